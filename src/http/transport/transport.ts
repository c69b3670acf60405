/**
 * The interface of every transport, and its options.
 *
 * @module
 */

import { createServer, Socket } from 'node:net'
import { OiError } from '../../errors.js'
import type { Leaving } from './leaving.js'
import type { TlsContent } from './tls.js'
import type { Listener } from '../contract.js'

export interface TransportOptions {
  readonly listener: Listener
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** The certificate for HTTPS; undefined: plain HTTP. */
  readonly tls: TlsContent | undefined
  /** How long a connection without a request is kept, milliseconds. */
  readonly idleTimeoutMs: number
  /** Whether each connection begins with a PROXY protocol header. */
  readonly proxyProtocol: boolean
  /** Holds replies that have not left yet, and cuts off clients that do not read. */
  readonly leaving: Leaving
  /** The prefix of the host and port flags in messages. */
  readonly flagPrefix: string
}

/** A listening server. */
export interface Transport {
  readonly port: number
  /** Accepts no more connections. Idempotent. */
  stopAccepting(): void
  /** Whether replies are handed to the system that no client has taken yet. */
  readonly sending: boolean
  /** Uses another certificate for new connections. */
  useTls(content: TlsContent): void
  /** Closes all connections at once. */
  close(): void
}

/**
 * Why listening fails: node:net names the reason, which uWebSockets.js does not.
 *
 * @param known - The reason, if known already.
 */
export async function listenError(
  { host, port, flagPrefix }: Pick<TransportOptions, 'host' | 'port' | 'flagPrefix'>,
  known?: NodeJS.ErrnoException,
): Promise<OiError> {
  const [hostFlag, portFlag] = [`${flagPrefix}host`, `${flagPrefix}port`]
  const cause = known ?? (await tryToListen(host, port))
  const remedies: Record<string, string> = {
    EADDRINUSE: `port ${port} is taken: choose another with ${portFlag}`,
    EACCES: `port ${port} needs privileges: choose one above 1023 with ${portFlag}`,
    EADDRNOTAVAIL: `this machine has no address ${host}: choose another with ${hostFlag}`,
    ENOTFOUND: `there is no address ${host}: choose another with ${hostFlag}`,
  }
  const remedy =
    remedies[cause?.code ?? ''] ??
    `${cause?.message ?? 'unknown reason'}: see ${hostFlag} and ${portFlag}`
  return new OiError('ERR_LISTEN', `Cannot listen on ${host}:${port}: ${remedy}`, { cause })
}

function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', resolve)
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)))
  })
}

/** A connection that another transport has accepted. */
export function socketOf(fd: number): Socket {
  const socket = new Socket({ fd, allowHalfOpen: true, readable: true, writable: true })
  socket.on('error', () => socket.destroy())
  socket.setNoDelay(true)
  return socket
}

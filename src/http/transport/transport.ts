/**
 * What every transport offers, and what all of them are told.
 *
 * @module
 */

import { createServer } from 'node:net'
import { OiError } from '../../errors.js'
import type { Client, Exchange } from '../exchange/exchange.js'
import type { Head } from './head.js'
import type { Leaving } from './leaving.js'
import type { TlsContent } from './tls.js'

/** What is done with requests, independent of the transport. */
export interface Listener {
  /**
   * Begins a request. Never throws.
   *
   * @param head - Read before this returns.
   * @returns The exchange that wants the body and news of the client's departure, or undefined
   *   if the reply has been sent.
   */
  open(head: Head, client: Client): Exchange | undefined
  /** Says where it is asked for that the end is near. */
  beginDrain(): void
  /** Answers a request that the transport cannot read. Never throws. */
  refuse(head: Head, client: Client, error: OiError): void
  /** Refuses new requests, and ends the running ones within `graceMs`. */
  close(graceMs: number): Promise<void>
}

export interface TransportOptions {
  readonly listener: Listener
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Speaks HTTPS with this, and plain HTTP without. */
  readonly tls: TlsContent | undefined
  /** How long a connection without a request is kept, milliseconds. */
  readonly idleTimeoutMs: number
  /** Whether each connection begins with a header of the PROXY protocol. */
  readonly proxyProtocol: boolean
  /** Takes what has not left yet, and cuts off who does not read. */
  readonly leaving: Leaving
  /** What the flags of host and port begin with, for messages. */
  readonly flagPrefix: string
}

/** A server that listens. */
export interface Transport {
  readonly port: number
  /** Accepts no more connections. Idempotent. */
  stopAccepting(): void
  /** Whether there are replies that the process has given away and no client has taken yet. */
  readonly sending: boolean
  /** Shows another certificate to whoever connects from now on. */
  useTls(content: TlsContent): void
  /** Closes all connections at once. */
  close(): void
}

/**
 * Why nothing can listen there: node:net names the reason, which uWebSockets.js does not.
 *
 * @param known - The reason, if it is known already.
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

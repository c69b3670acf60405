/**
 * A server: the handlers on the transport that fits the machine and the settings.
 *
 * uWebSockets.js serves plain HTTP where it can be used (uws-transport.ts); otherwise node:http
 * does, which also speaks TLS and reads the PROXY protocol (node-transport.ts).
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { OiError } from '../errors.js'
import { Leaving } from './transport/leaving.js'
import { NodeTransport } from './transport/node-transport.js'
import type { TlsContent } from './transport/tls.js'
import type { Transport, TransportOptions } from './transport/transport.js'
import { NoUws, UwsTransport } from './transport/uws-transport.js'
import type { Listener } from './contract.js'

export type TransportName = 'auto' | 'uws' | 'node'

export interface ServerOptions {
  readonly handlers: Listener
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** The certificate for HTTPS; undefined: plain HTTP. */
  readonly tls?: TlsContent | undefined
  /** Default `auto`. */
  readonly transport?: TransportName
  /** How long a connection without a request is kept, milliseconds. Default 75,000. */
  readonly idleTimeoutMs?: number | undefined
  /** Whether each connection begins with a PROXY protocol header. Default false. */
  readonly proxyProtocol?: boolean | undefined
  /** How long a client may stop reading its reply, milliseconds. Default 10,000. */
  readonly patienceMs?: number | undefined
  /** The prefix of the host and port flags in messages. Default `--`. */
  readonly flagPrefix?: string
}

/** Time for replies at the end of the grace period, milliseconds. */
const lastMs = 1000
/** Interval of the check whether the last replies have left. */
const lookMs = 5

interface Chosen {
  readonly transport: Transport
  readonly by: string
}

export class Server {
  readonly port: number
  /** The HTTP library, for people; and why the faster one is not used. */
  readonly by: string
  readonly #handlers: Listener
  readonly #leaving: Leaving
  readonly #transport: Transport
  #closed: Promise<void> | undefined

  /**
   * Listens.
   *
   * @throws {@link OiError} `ERR_LISTEN` naming the address and what to change.
   */
  static async listen(options: ServerOptions): Promise<Server> {
    const { handlers, host, port, tls, flagPrefix = '--' } = options
    const { transport = 'auto', idleTimeoutMs = 75_000, proxyProtocol = false } = options
    const leaving = new Leaving(options.patienceMs ?? 10_000)
    const rest = { host, port, tls, idleTimeoutMs, proxyProtocol, flagPrefix, leaving }
    const chosen = await choose(transport, { listener: handlers, ...rest })
    return new Server(handlers, leaving, chosen)
  }

  private constructor(handlers: Listener, leaving: Leaving, { transport, by }: Chosen) {
    this.port = transport.port
    this.by = by
    this.#handlers = handlers
    this.#leaving = leaving
    this.#transport = transport
  }

  /** How many replies have not left yet. */
  get leaving(): number {
    return this.#leaving.size
  }

  /** Uses another certificate for new connections. */
  useTls(content: TlsContent): void {
    this.#transport.useTls(content)
  }

  /** Makes `/readyz` report the coming shutdown; everything else goes on. Idempotent. */
  beginDrain(): void {
    this.#handlers.beginDrain()
  }

  /**
   * Accepts no more connections, answers 503 on open ones, waits at most `graceMs` for running
   * requests and their replies, then closes everything. Idempotent.
   */
  close(graceMs: number): Promise<void> {
    this.#closed ??= this.#close(graceMs)
    return this.#closed
  }

  async #close(graceMs: number): Promise<void> {
    this.#transport.stopAccepting()
    const endMs = performance.now() + graceMs
    await this.#handlers.close(graceMs)
    // Requests that are refused at the end of the grace period need a moment too.
    const leftMs = Math.max(endMs - performance.now(), Math.min(graceMs, lastMs))
    const lastLookMs = performance.now() + leftMs
    if (leftMs > 0) await this.#leaving.drain(leftMs)
    // The library may hold the last pieces of a reply without reporting them.
    while (performance.now() < lastLookMs && this.#transport.sending) await sleep(lookMs)
    this.#transport.close()
  }
}

async function choose(name: TransportName, options: TransportOptions): Promise<Chosen> {
  const nodeOnly = options.tls !== undefined || options.proxyProtocol
  const byNode = async (reason = '') => {
    return { transport: await NodeTransport.listen(options), by: `node:http${reason}` }
  }
  if (name === 'node' || (name === 'auto' && nodeOnly)) return byNode()
  if (nodeOnly) {
    throw new OiError('ERR_LISTEN', '--transport: TLS and the PROXY protocol need node or auto')
  }
  try {
    return { transport: await UwsTransport.listen(options), by: 'uWebSockets.js' }
  } catch (error) {
    if (!(error instanceof NoUws)) throw error
    if (name === 'auto') return byNode(`, as uWebSockets.js cannot be used: ${error.message}`)
    throw new OiError('ERR_LISTEN', `--transport: uws cannot be used: ${error.message}`, {
      cause: error,
    })
  }
}

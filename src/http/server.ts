/**
 * A server: the handlers on the transport that suits the machine and the settings.
 *
 * Plain HTTP is served by uWebSockets.js where it can be used (uws-transport.ts), else by
 * node:http, which also speaks TLS and reads the PROXY protocol (node-transport.ts).
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { Listener } from './exchange.js'
import { NodeTransport } from './node-transport.js'
import type { TlsFiles } from './tls.js'
import type { Transport, TransportOptions } from './transport.js'
import { NoUws, UwsTransport } from './uws-transport.js'

export type TransportName = 'auto' | 'uws' | 'node'

export interface ServerOptions {
  readonly handlers: Listener
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Speaks HTTPS with these, and plain HTTP without. */
  readonly tls?: TlsFiles | undefined
  /** Default `auto`. */
  readonly transport?: TransportName
  /** How long a connection without a request is kept, milliseconds. Default 75,000. */
  readonly idleTimeoutMs?: number
  /** Whether each connection begins with a header of the PROXY protocol. Default false. */
  readonly proxyProtocol?: boolean
  /** What the flags of host and port begin with, for messages. Default `--`. */
  readonly flagPrefix?: string
}

export class Server {
  readonly port: number
  readonly #handlers: Listener
  readonly #transport: Transport
  #closed: Promise<void> | undefined

  /**
   * Listens.
   *
   * @throws {@link OiError} `ERR_LISTEN` naming the address and what to change, `ERR_CONFIG` if
   *   the files of `tls` cannot be used.
   */
  static async listen(options: ServerOptions): Promise<Server> {
    const { handlers, host, port, tls, flagPrefix = '--' } = options
    const { transport = 'auto', idleTimeoutMs = 75_000, proxyProtocol = false } = options
    const rest = { host, port, tls, idleTimeoutMs, proxyProtocol, flagPrefix }
    return new Server(handlers, await choose(transport, { listener: handlers, ...rest }))
  }

  private constructor(handlers: Listener, transport: Transport) {
    this.port = transport.port
    this.#handlers = handlers
    this.#transport = transport
  }

  /**
   * Accepts no more connections, answers 503 on those that are open, waits for running requests
   * at most `graceMs`, then closes everything. Idempotent.
   */
  close(graceMs: number): Promise<void> {
    this.#closed ??= this.#close(graceMs)
    return this.#closed
  }

  async #close(graceMs: number): Promise<void> {
    this.#transport.stopAccepting()
    await this.#handlers.close(graceMs)
    await this.#transport.close(graceMs)
  }
}

async function choose(name: TransportName, options: TransportOptions): Promise<Transport> {
  const nodeOnly = options.tls !== undefined || options.proxyProtocol
  if (name === 'node' || (name === 'auto' && nodeOnly)) return NodeTransport.listen(options)
  if (nodeOnly) {
    throw new OiError('ERR_LISTEN', '--transport: TLS and the PROXY protocol need node or auto')
  }
  try {
    return await UwsTransport.listen(options)
  } catch (error) {
    if (!(error instanceof NoUws)) throw error
    if (name === 'auto') return NodeTransport.listen(options)
    throw new OiError('ERR_LISTEN', `--transport: uws cannot be used: ${error.message}`, {
      cause: error,
    })
  }
}

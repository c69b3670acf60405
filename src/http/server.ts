/**
 * The handlers on uWebSockets.js, which only this file and uws-client.ts name.
 *
 * Rules
 *   1. `req` is valid during its handler only, and a chunk during its callback only.
 *   2. `res` is not touched after onAborted, nor after its reply (exchange.ts, rule 1).
 *
 * What the library does by itself, and the tests rely on: a body that arrives slower than 16 KB
 * per second over ten seconds, and a connection that is idle for ten seconds, are closed; a request
 * that is pipelined behind one that is not answered yet closes the connection, so two answers
 * can never change places.
 *
 * @module
 */

import { createServer } from 'node:net'
import uWS, { type HttpRequest, type TemplatedApp, type us_listen_socket } from 'uWebSockets.js'
import { OiError } from '../errors.js'
import type { Listener } from './exchange.js'
import { checkTls, type TlsFiles } from './tls.js'
import { Leaving } from './leaving.js'
import { UwsClient } from './uws-client.js'

export interface ServerOptions {
  readonly handlers: Listener
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Speaks HTTPS with these, and plain HTTP without. */
  readonly tls?: TlsFiles | undefined
  /** What the flags of host and port begin with, for messages. Default `--`. */
  readonly flagPrefix?: string
  /** How long a client may read nothing of its reply, milliseconds. Default 10,000. */
  readonly patienceMs?: number | undefined
}

/** By default two servers may share a port, and each would get some of the requests. */
const exclusivePort = (uWS as unknown as { LIBUS_LISTEN_EXCLUSIVE_PORT: number })
  .LIBUS_LISTEN_EXCLUSIVE_PORT

/** For replies at the end of the grace period, milliseconds. */
const lastMs = 1000

export class Server {
  readonly port: number
  readonly #app: TemplatedApp
  readonly #handlers: Listener
  readonly #leaving: Leaving
  readonly #listenSocket: us_listen_socket
  #closed: Promise<void> | undefined

  /**
   * Listens.
   *
   * @throws {@link OiError} `ERR_LISTEN` naming the address and what to change, `ERR_CONFIG` if
   *   the files of `tls` cannot be used.
   */
  static async listen(options: ServerOptions): Promise<Server> {
    const { handlers, host, port, tls, patienceMs = 10_000 } = options
    const leaving = new Leaving(patienceMs)
    const app = (tls === undefined ? uWS.App() : createTlsApp(tls)).any('/*', (res, req) => {
      const client = new UwsClient(res, leaving, announcedBytes(req))
      const exchange = handlers.open(req, client)
      // What has been sent is over; what waits for its body, or for being read, is not.
      if (client.done) return
      res.onAborted(() => {
        client.abort()
        exchange?.abandon()
      })
      res.onData((chunk, last) => {
        const bytes = new Uint8Array(chunk)
        client.receive(bytes.length, last)
        exchange?.receive(bytes, last)
      })
    })
    const socket = await new Promise<us_listen_socket | false>((resolve) => {
      const listen = app.listen as unknown as ListenExclusively
      listen.call(app, host, port, exclusivePort, resolve)
    })
    if (socket === false) throw await listenError(options)
    return new Server(app, handlers, leaving, socket)
  }

  private constructor(
    app: TemplatedApp,
    handlers: Listener,
    leaving: Leaving,
    listenSocket: us_listen_socket,
  ) {
    this.port = uWS.us_socket_local_port(listenSocket)
    this.#app = app
    this.#handlers = handlers
    this.#leaving = leaving
    this.#listenSocket = listenSocket
  }

  /** How many replies have not left yet. */
  get leaving(): number {
    return this.#leaving.size
  }

  /**
   * Says on `/readyz` that the end is near, and does everything else as before. Idempotent.
   */
  beginDrain(): void {
    this.#handlers.beginDrain()
  }

  /**
   * Accepts no more connections, answers 503 on those that are open, waits for running requests
   * and until their replies have left, at most `graceMs`, then closes everything. Idempotent.
   */
  close(graceMs: number): Promise<void> {
    this.#closed ??= this.#close(graceMs)
    return this.#closed
  }

  async #close(graceMs: number): Promise<void> {
    uWS.us_listen_socket_close(this.#listenSocket)
    const endMs = performance.now() + graceMs
    await this.#handlers.close(graceMs)
    // Those that were refused at the end of the grace period need a moment too.
    const leftMs = Math.max(endMs - performance.now(), Math.min(graceMs, lastMs))
    if (leftMs > 0) await this.#leaving.drain(leftMs)
    this.#app.close()
  }
}

/** The form of listen() that the library's types leave out. */
type ListenExclusively = (
  host: string,
  port: number,
  options: number,
  done: (socket: us_listen_socket | false) => void,
) => TemplatedApp

function createTlsApp(files: TlsFiles): TemplatedApp {
  checkTls(files)
  try {
    return uWS.SSLApp({ cert_file_name: files.certFile, key_file_name: files.keyFile })
  } catch (cause) {
    throw new OiError(
      'ERR_LISTEN',
      `--tls-cert and --tls-key: uWebSockets.js takes neither ${files.certFile} nor a reason`,
      { cause },
    )
  }
}

/** How long a request says that its body is: 0 if it has none, Infinity if it does not say it. */
function announcedBytes(req: HttpRequest): number {
  if (req.getHeader('transfer-encoding') !== '') return Infinity
  return Number(req.getHeader('content-length')) || 0
}

/** uWebSockets.js only says that it failed; node:net fails for the same reason and names it. */
async function listenError(options: ServerOptions): Promise<OiError> {
  const { host, port, flagPrefix = '--' } = options
  const [hostFlag, portFlag] = [`${flagPrefix}host`, `${flagPrefix}port`]
  const cause = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const probe = createServer()
    probe.once('error', resolve)
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)))
  })
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

/**
 * The handlers on uWebSockets.js. The only file that names it.
 *
 * Rules
 *   1. `req` is valid during its handler only, and a chunk during its callback only.
 *   2. `res` is not touched after onAborted, nor after its reply (exchange.ts, rule 1).
 *   3. Everything is written corked: one system call per reply.
 *
 * What the library does by itself, and the tests rely on: a body that arrives slower than 16 KB
 * per second over ten seconds, and a connection that is idle for ten seconds, are closed; the
 * rest of a body that was refused is read and dropped within the same ten seconds; a request
 * that is pipelined behind one that is not answered yet closes the connection, so two answers
 * can never change places.
 *
 * @module
 */

import { STATUS_CODES } from 'node:http'
import { createServer } from 'node:net'
import uWS, { type HttpResponse, type TemplatedApp, type us_listen_socket } from 'uWebSockets.js'
import { OiError } from '../errors.js'
import type { Client } from './exchange.js'
import type { Handlers } from './handlers.js'
import type { Reply } from './reply.js'

export interface ServerOptions {
  readonly handlers: Handlers
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
}

/** By default two servers may share a port, and each would get some of the requests. */
const exclusivePort = (uWS as unknown as { LIBUS_LISTEN_EXCLUSIVE_PORT: number })
  .LIBUS_LISTEN_EXCLUSIVE_PORT

/** `200 OK` and so on, by status. */
const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([status, reason]) => [Number(status), `${status} ${reason}`]),
)

export class Server {
  readonly port: number
  readonly #app: TemplatedApp
  readonly #handlers: Handlers
  readonly #listenSocket: us_listen_socket
  #closed: Promise<void> | undefined

  /**
   * Listens.
   *
   * @throws {@link OiError} `ERR_LISTEN` naming the address and what to change.
   */
  static async listen({ handlers, host, port }: ServerOptions): Promise<Server> {
    const app = uWS.App().any('/*', (res, req) => {
      const client = new UwsClient(res)
      const exchange = handlers.open(req, client)
      if (exchange === undefined) return
      res.onAborted(() => exchange.abandon())
      res.onData((chunk, last) => exchange.receive(new Uint8Array(chunk), last))
    })
    const socket = await new Promise<us_listen_socket | false>((resolve) => {
      const listen = app.listen as unknown as ListenExclusively
      listen.call(app, host, port, exclusivePort, resolve)
    })
    if (socket === false) throw await listenError(host, port)
    return new Server(app, handlers, socket)
  }

  private constructor(app: TemplatedApp, handlers: Handlers, listenSocket: us_listen_socket) {
    this.port = uWS.us_socket_local_port(listenSocket)
    this.#app = app
    this.#handlers = handlers
    this.#listenSocket = listenSocket
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
    uWS.us_listen_socket_close(this.#listenSocket)
    await this.#handlers.close(graceMs)
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

class UwsClient implements Client {
  readonly #res: HttpResponse

  constructor(res: HttpResponse) {
    this.#res = res
  }

  send(reply: Reply): void {
    this.#res.cork(() => this.#write(reply))
  }

  #write({ status, headers, body, headOnly, close }: Reply): void {
    const res = this.#res
    res.writeStatus(statusLines.get(status)!)
    for (let i = 0; i < headers.length; i += 2) res.writeHeader(headers[i]!, headers[i + 1]!)
    if (headOnly) {
      // The length is no argument of endWithoutBody: uWebSockets.js 20 then waits for a body.
      res.writeHeader('content-length', String(Buffer.byteLength(body)))
      res.endWithoutBody()
    } else {
      res.end(body, close)
    }
  }
}

/** uWebSockets.js only says that it failed; node:net fails for the same reason and names it. */
async function listenError(host: string, port: number): Promise<OiError> {
  const cause = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const probe = createServer()
    probe.once('error', resolve)
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)))
  })
  const remedies: Record<string, string> = {
    EADDRINUSE: `port ${port} is taken: choose another with --port`,
    EACCES: `port ${port} needs privileges: choose one above 1023 with --port`,
    EADDRNOTAVAIL: `this machine has no address ${host}: choose another with --host`,
    ENOTFOUND: `there is no address ${host}: choose another with --host`,
  }
  const remedy =
    remedies[cause?.code ?? ''] ?? `${cause?.message ?? 'unknown reason'}: see --host and --port`
  return new OiError('ERR_LISTEN', `Cannot listen on ${host}:${port}: ${remedy}`, { cause })
}

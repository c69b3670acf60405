/**
 * The handlers on uWebSockets.js, behind our own filter (native/transport/header_filter.h): the library sees
 * only plain HTTP/1.1 requests; node:http serves all other connections.
 *
 * Rules
 *   1. `req` is valid during its handler only, and a chunk during its callback only.
 *   2. `res` is not touched after onAborted, nor after its reply (served-request.ts, rule 1).
 *   3. The library gets a connection's next request when the one before is answered: by itself it
 *      would close the connection, and both would be lost.
 *
 * The library's own behaviour, on which the tests rely: the rest of a refused body is read and
 * dropped within ten seconds.
 *
 * @module
 */

import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type uWS from 'uWebSockets.js'
import type { HttpRequest, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { loadAddon, type NativeHeaderFilter } from '../../engine/native.js'
import { OiError } from '../../errors.js'
import { notInstalled } from '../../server-package.js'
import { requestId } from '../reply/request-id.js'
import { errorContent, headersOf, noTimings } from '../reply/reply.js'
import { watchHalfClosed } from './half-closed.js'
import { RefusedClient } from './node-client.js'
import { NodeTransport } from './node-transport.js'
import { headTimeoutError } from './transport-errors.js'
import { listenError, type Transport, type TransportOptions } from './transport.js'
import { Unconfirmed } from './unconfirmed.js'
import { UwsClient } from './uws-client.js'
import type { Served } from '../contract.js'

type Library = typeof uWS

/** The last request of a connection whose reply was not ready at once. */
interface Active {
  readonly client: UwsClient
  /** Undefined if its reply was ready at once, and has not left yet. */
  readonly request: Served | undefined
}

/** Why uWebSockets.js cannot be used; the server goes on without it. */
export class NoUws extends Error {}

export class UwsTransport implements Transport {
  readonly port: number
  readonly #app: TemplatedApp
  readonly #library: Library
  readonly #socket: us_listen_socket
  readonly #filter: NativeHeaderFilter
  readonly #others: NodeTransport
  #accepting = true
  /** Whether requests are read that came before the reply to the one before them. */
  #resuming = false
  /** By the filter's number of the connection. */
  readonly #active: (Active | undefined)[] = []
  /** By the same number; those of a connection that closed well stay until the next one has it. */
  readonly #unconfirmed: (Unconfirmed | undefined)[] = []
  /** By connection, see {@link NativeHeaderFilter.attach}. */
  readonly #answering = new Uint8Array(mostConnections)
  readonly #current = new Int32Array(1)
  /** Ends the watch over a connection whose client has closed its side. */
  readonly #watches = new Map<number, () => void>()

  /**
   * Listens.
   *
   * @throws {@link NoUws} If the library or the filter cannot be used; {@link OiError} `ERR_LISTEN`.
   */
  static async listen(options: TransportOptions): Promise<UwsTransport> {
    const { host, port } = options
    const { library, binary } = await loadLibrary()
    const app = library.App()
    const socket = await new Promise<us_listen_socket | false>((resolve) => {
      const listen = app.listen as unknown as ListenExclusively
      // By default two servers may share a port, and each would get some of the requests.
      listen.call(app, host, port, exclusivePort(library), resolve)
    })
    if (socket === false) throw await listenError(options)
    try {
      return new UwsTransport(options, library, binary, app, socket)
    } catch (error) {
      library.us_listen_socket_close(socket)
      app.close()
      throw error
    }
  }

  private constructor(
    options: TransportOptions,
    library: Library,
    binary: string,
    app: TemplatedApp,
    socket: us_listen_socket,
  ) {
    const { listener, leaving, idleTimeoutMs } = options
    this.port = library.us_socket_local_port(socket)
    this.#library = library
    this.#app = app
    this.#socket = socket
    this.#filter = new (loadFilter())({
      takeOver: (connection, fd, bytes, late) => this.#takeOver(connection, fd, bytes, late),
      halfClosed: (connection) => this.#halfClosed(connection),
      closed: (connection, lost) => this.#closed(connection, lost),
    })
    const idleSeconds = Math.floor(idleTimeoutMs / 1000)
    const stands = this.#filter.attach({
      port: this.port,
      binary,
      idleSeconds,
      refusal: refusalText(),
      answering: this.#answering,
      current: this.#current,
    })
    if (!stands) throw new NoUws('this binary of uWebSockets.js is not known')
    this.#others = new NodeTransport(options)
    const shared = {
      leaving,
      keepAlive: `timeout=${idleSeconds}`,
      onDone: (connection: number) => this.#answered(connection),
    }
    app.any('/*', (res, req) => {
      const connection = this.#current[0]!
      const client = new UwsClient(res, announcedBytes(req), connection, shared)
      const unconfirmed = (this.#unconfirmed[connection] ??= new Unconfirmed())
      unconfirmed.next(this.#resuming)
      const request = listener.open(req, client)
      // A request whose reply has been sent is over; one that waits for its body, or to be read, is
      // not.
      if (client.done) {
        this.#active[connection] = undefined
        return
      }
      this.#active[connection] = { client, request }
      if (request !== undefined) unconfirmed.add(request)
      this.#answering[connection] = 1
      res.onAborted(() => {
        client.abort()
        request?.abandon()
      })
      res.onData((chunk, last) => {
        const bytes = new Uint8Array(chunk)
        client.receive(bytes.length, last)
        request?.receive(bytes, last)
      })
    })
  }

  stopAccepting(): void {
    if (!this.#accepting) return
    this.#accepting = false
    this.#library.us_listen_socket_close(this.#socket)
  }

  get sending(): boolean {
    return this.#filter.sending() || this.#others.sending
  }

  /** This transport never has TLS. */
  useTls(): void {}

  close(): void {
    this.stopAccepting()
    this.#others.close()
    this.#app.close()
    this.#filter.dispose()
  }

  /** Called by the filter; must not throw, as the descriptor is closed then. */
  #takeOver(connection: number, fd: number, bytes: Buffer, late: boolean): boolean {
    if (this.#isRunning(connection)) return false
    this.#unconfirmed[connection]?.next(this.#resuming)
    if (late) this.#others.refuse(fd, headTimeoutError())
    else this.#others.adopt(fd, bytes)
    return true
  }

  #isRunning(connection: number): boolean {
    return this.#answering[connection] !== 0
  }

  #answered(connection: number): void {
    const waits = this.#answering[connection] === waited
    this.#answering[connection] = 0
    if (!waits) return
    // Later, as the library may be in the middle of its own work with this connection.
    setImmediate(() => {
      this.#resuming = true
      this.#filter.resume(connection)
      this.#resuming = false
    })
  }

  #halfClosed(connection: number): boolean {
    if (!this.#isRunning(connection)) return false
    // With another request behind it, the connection is closed behind that.
    if (this.#answering[connection] !== waited) this.#active[connection]!.client.closes = true
    const stop = watchHalfClosed({
      isRunning: () => this.#isRunning(connection),
      // Once the reply has begun, the interim reply would be in the middle of it, and a part that
      // cannot be written shows the same.
      probe: () => this.#hasBegun(connection) || this.#filter.probe(connection),
      isThere: () => this.#filter.isThere(connection),
      finish: () => this.#filter.closeIfSent(connection),
    })
    this.#watches.set(connection, stop)
    return true
  }

  #hasBegun(connection: number): boolean {
    return this.#active[connection]?.request?.begun ?? true
  }

  /** @param lost - Whether the last reply may not have arrived whole. */
  #closed(connection: number, lost: boolean): void {
    this.#watches.get(connection)?.()
    this.#watches.delete(connection)
    this.#unconfirmed[connection]?.end(lost)
    this.#active[connection] = undefined
  }
}

/** Descriptors beyond it are refused: one byte is kept for each. */
const mostConnections = 2 ** 20
/** The value of `answering` that the filter sets. */
const waited = 2

/** The length of a body by its head. Requests without a length never come here. */
function announcedBytes(req: HttpRequest): number {
  return Number(req.getHeader('content-length')) || 0
}

/** The form of listen() that the library's types omit. */
type ListenExclusively = (
  host: string,
  port: number,
  options: number,
  done: (socket: us_listen_socket | false) => void,
) => TemplatedApp

const exclusivePort = (library: Library) =>
  (library as unknown as { LIBUS_LISTEN_EXCLUSIVE_PORT: number }).LIBUS_LISTEN_EXCLUSIVE_PORT

/** Of a request's head, in bytes: `kMostHeadBytes` of native/transport, with room for its end. */
const mostHeadBytes = 2 * 16_384

/** The binaries that the filter was tested with, by their Node module version. */
const knownModules = ['115', '127', '137', '141']

async function loadLibrary(): Promise<{ library: Library; binary: string }> {
  const { platform, arch, versions } = process
  if (platform !== 'linux' || !knownModules.includes(versions.modules)) {
    throw new NoUws(`it is not used on ${platform} with Node ${versions.node}`)
  }
  // As long as the filter lets pass; the library's own limit is less from Node 22 on.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(mostHeadBytes)
  try {
    const library = (await import('uWebSockets.js')).default
    const folder = dirname(fileURLToPath(import.meta.resolve('uWebSockets.js')))
    const name = `uws_${platform}_${arch}_${versions.modules}.node`
    return { library, binary: realpathSync(join(folder, name)) }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const missing = code === 'ERR_MODULE_NOT_FOUND'
    const reason = missing ? notInstalled('uWebSockets.js') : message.split('\n').at(-1)
    throw new NoUws(reason, { cause })
  }
}

function loadFilter() {
  try {
    return loadAddon().NativeHeaderFilter
  } catch (cause) {
    throw new NoUws('the native addon is not built', { cause })
  }
}

/** The reply on a connection beyond the limit of descriptors. */
function refusalText(): string {
  const error = new OiError('ERR_OVERLOADED', 'Too many connections are open')
  const id = requestId('')
  const content = errorContent(error, id)
  let text = ''
  new RefusedClient({ write: (part: string) => (text += part) }, '').send({
    ...content,
    headers: headersOf(id, noTimings, 0, content),
    headOnly: false,
    close: true,
  })
  return text
}

/**
 * The admin socket of a running server.
 *
 * Rules
 *   1. Access to the socket allows everything: it belongs to its owner alone (0600), like the data
 *      folder's files, and there is no key.
 *   2. Of several servers on one data folder, the first has the socket. Another never takes it from
 *      a live server; it checks at intervals, and takes the socket when the first has ended. So the
 *      socket also tells a start that it is the second.
 *   3. Without the socket a server works as before: that it cannot listen is only reported.
 *
 * @module
 */

import { statSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { OiError } from '../../errors.js'
import { type AdminAddress, adminAddress } from './address.js'
import { isInput, type OnProgress, type Operations } from './operations.js'
import { Lines, type Reply } from './protocol.js'

const second =
  'Another server runs on this data folder: each of them allows the requests per minute and the ' +
  'concurrent requests of a workspace, and oi models load, unload, reload, status reach the other'

export interface AdminServerOptions {
  readonly dataDir: string
  readonly operations: Operations
  /** Takes a sentence for the operator. */
  readonly notice: (text: string) => void
  /**
   * How often a server without the socket checks whether it is free, milliseconds. Default 5,000.
   */
  readonly lookMs?: number
}

export class AdminServer {
  readonly #options: AdminServerOptions
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #address: AdminAddress | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** Listens, now or when it can (rules 2 and 3). Never rejects. */
  static async listen(options: AdminServerOptions): Promise<AdminServer> {
    const server = new AdminServer(options)
    await server.#listen()
    return server
  }

  private constructor(options: AdminServerOptions) {
    this.#options = options
  }

  /** Takes no more requests, and gives up those under way. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const socket of this.#sockets) socket.destroy()
    const server = this.#server
    if (server?.listening) await new Promise((resolve) => server.close(resolve))
    this.#release()
  }

  async #listen(): Promise<void> {
    const { dataDir, notice, lookMs = 5000 } = this.#options
    const isFirst = this.#timer === undefined
    try {
      const { path } = (this.#address = adminAddress(dataDir))
      await removeStale(path)
      if (this.#closed) return this.#release()
      this.#server = await listenAt(path, (socket) => this.#serve(socket))
      if (this.#closed) await this.close()
    } catch (error) {
      this.#release()
      const { code, message } = error as NodeJS.ErrnoException
      const taken = code === 'EADDRINUSE'
      if (isFirst) notice(taken ? second : `No oi models load, unload, reload, status: ${message}`)
      if (!taken || this.#closed) return
      this.#timer = setTimeout(() => void this.#listen(), lookMs).unref()
    }
  }

  #release(): void {
    this.#address?.release()
    this.#address = undefined
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {}) // 'close' follows
    const lines = new Lines()
    socket.setEncoding('utf8').on('data', (text: string) => {
      const whole = lines.push(text)
      if (whole === undefined) socket.destroy()
      if (!whole?.length) return
      socket.removeAllListeners('data').resume()
      void this.#answer(socket, whole[0]!)
    })
  }

  async #answer(socket: Socket, line: string): Promise<void> {
    const send = (reply: Reply) => {
      if (socket.writable) socket.write(`${JSON.stringify(reply)}\n`)
    }
    try {
      send({ result: (await this.#run(line, (progress) => send({ progress }))) ?? null })
    } catch (error) {
      const { code, message } = error as Partial<OiError>
      const text = message ?? String(error)
      send({ error: { code: code ?? 'ERR_ENGINE_INTERNAL', message: text } })
    }
    socket.end()
  }

  async #run(line: string, onProgress: OnProgress): Promise<unknown> {
    const { operation, ...input } = parse(line)
    const { operations } = this.#options
    if (typeof operation === 'string' && Object.hasOwn(operations, operation)) {
      return operations[operation]!(input, onProgress)
    }
    const known = Object.keys(operations).join(', ')
    throw new OiError('ERR_INVALID_ARGUMENT', `operation: expected one of ${known}`)
  }
}

function parse(line: string) {
  try {
    const value: unknown = JSON.parse(line)
    if (isInput(value)) return value
  } catch {
    // Reported below.
  }
  throw new OiError('ERR_INVALID_ARGUMENT', 'expected a line with a JSON object')
}

function listenAt(address: string, onConnection: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, onConnection)
    server.once('error', reject)
    // listen() creates the file, which must never be open to others, not even for a moment.
    const mask = process.umask(0o177)
    try {
      server.listen(address, () => {
        // An error of a listening server concerns one connection.
        server.off('error', reject).on('error', () => {})
        resolve(server.unref())
      })
    } finally {
      process.umask(mask)
    }
  })
}

/**
 * Removes the socket of a server that died without removing it.
 *
 * @throws `EADDRINUSE` if a server listens there.
 */
async function removeStale(address: string): Promise<void> {
  if (process.platform === 'win32') return
  const found = statOf(address)
  if (found === undefined) return
  if (!found.isSocket()) throw new OiError('ERR_CONFIG', `${address} is not a socket`)
  const listened = await new Promise<boolean>((resolve) => {
    const socket = connect(address)
    socket.once('connect', () => resolve(true)).once('connect', () => socket.destroy())
    // EAGAIN: the queue is full, so a server listens.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'EAGAIN'))
  })
  if (listened) throw Object.assign(new Error(`${address} is in use`), { code: 'EADDRINUSE' })
  // Two servers may find it at the same time: only the checked one is removed.
  const now = statOf(address)
  if (now?.ino === found.ino && now.ctimeMs === found.ctimeMs) unlinkSync(address)
}

const statOf = (path: string) => statSync(path, { throwIfNoEntry: false })

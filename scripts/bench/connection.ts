/**
 * HTTP/1.1 over a raw socket, one request at a time: prepared bytes out, a reply with a
 * content-length in. It costs a client less than any library.
 *
 * @module
 */

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Reply {
  readonly status: number
  /** Status line and headers, in lower case. */
  readonly head: string
  readonly body: Buffer
}

/** The reply of a connection that ended without one. */
export const broken: Reply = { status: 0, head: '', body: Buffer.alloc(0) }

/** A POST of a JSON text as bytes. @param key - An API key, where one is needed. */
export function preparePost(path: string, body: string, key?: string): Buffer {
  const authorization = key === undefined ? '' : `authorization: Bearer ${key}\r\n`
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${authorization}` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** A request to /v1/systemone as bytes. */
export function prepareRequest(key: string, body: string): Buffer {
  return preparePost('/v1/systemone', body, key)
}

/**
 * A connection that has been idle for this long is not reused: a server may be closing it
 * (uWebSockets.js does after 10 seconds), and a request sent then gets no reply.
 */
const maxIdleMs = 5000

export class Connection {
  #socket: Socket
  #idleSinceMs = performance.now()
  #pending: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | undefined
  #received: Buffer | undefined

  private constructor(
    readonly port: number,
    socket: Socket,
  ) {
    this.#socket = this.#listen(socket)
  }

  static async open(port: number): Promise<Connection> {
    return new Connection(port, await connected(port))
  }

  /** Opens several connections, passes them to `use`, and always closes them. */
  static async withPool<T>(
    port: number,
    count: number,
    use: (pool: readonly Connection[]) => Promise<T>,
  ): Promise<T> {
    const pool = await Promise.all(Array.from({ length: count }, () => Connection.open(port)))
    try {
      return await use(pool)
    } finally {
      for (const connection of pool) connection.close()
    }
  }

  /** A connection that either side has closed, or may be closing, is opened again. */
  async exchange(request: Buffer): Promise<Reply> {
    await this.#reopen()
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject }
      this.#socket.write(request)
    })
  }

  /** Sends this, whole or not, and closes without waiting for a reply. */
  async leave(request: Buffer, afterMs: number): Promise<void> {
    await this.#reopen()
    this.#socket.write(request)
    await sleep(afterMs)
    this.#socket.destroy()
  }

  close(): void {
    this.#socket.destroy()
  }

  async #reopen(): Promise<void> {
    if (!this.#socket.destroyed && performance.now() - this.#idleSinceMs < maxIdleMs) return
    const old = this.#socket
    this.#received = undefined
    this.#socket = this.#listen(await connected(this.port))
    old.destroy()
  }

  #listen(socket: Socket): Socket {
    // The end of an abandoned socket does not concern the exchange on its successor.
    const fail = (error: Error) => {
      if (socket === this.#socket) this.#pending?.reject(error)
    }
    socket.setNoDelay(true)
    socket.on('data', (data) => this.#take(data))
    socket.on('close', () => fail(new Error('the server closed a connection')))
    socket.on('error', fail)
    return socket
  }

  #take(data: Buffer): void {
    const received = this.#received === undefined ? data : Buffer.concat([this.#received, data])
    const headEnd = received.indexOf('\r\n\r\n')
    const head = headEnd < 0 ? '' : received.toString('latin1', 0, headEnd).toLowerCase()
    const field = head.indexOf('content-length: ')
    const length = Number.parseInt(head.slice(field + 16), 10)
    if (headEnd < 0 || received.length < headEnd + 4 + length) {
      this.#received = received
      return
    }
    this.#received = undefined
    this.#idleSinceMs = performance.now()
    const pending = this.#pending
    this.#pending = undefined
    const body = received.subarray(headEnd + 4, headEnd + 4 + length)
    if (head.includes('\r\nconnection: close')) this.#socket.destroy()
    pending?.resolve({ status: Number(head.slice(9, 12)), head, body })
  }
}

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.once('error', reject)
  })
}

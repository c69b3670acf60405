/**
 * A client on node:http, and one whose request node:http could not read.
 *
 * Rules
 *   1. A reply that is sent before the request's body has come ends only behind the body: closing
 *      a connection with bytes unread resets it, and the client would not see the reply. What is
 *      read for that is bounded in size and time.
 *
 * @module
 */

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Client } from './exchange.js'
import type { Leaver, Leaving } from './leaving.js'
import type { Reply } from './reply.js'

/** Rule 1. */
const mostDiscardedBytes = 67_108_864
const longestDiscardMs = 10_000
/** Handed over at once. */
const pieceBytes = 65_536

export class NodeClient implements Client, Leaver {
  /** The client waits to be told before it sends the body: then the body may never come. */
  awaitsContinue = false
  /** The rest of the request cannot be read. */
  bodyLost = false
  progressMs = 0
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #address: string
  readonly #leaving: Leaving

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    address: string,
    leaving: Leaving,
  ) {
    this.#request = request
    this.#response = response
    this.#address = address
    this.#leaving = leaving
  }

  address(): string {
    return this.#address
  }

  send({ status, headers, body, headOnly, close }: Reply): void {
    const response = this.#response
    if (response.destroyed) return
    const fields = [...headers]
    if (status !== 204) fields.push('content-length', String(Buffer.byteLength(body)))
    const noMore = this.awaitsContinue || this.bodyLost
    if (close || noMore) fields.push('connection', 'close')
    this.#track()
    response.writeHead(status, STATUS_CODES[status], fields)
    const bytes = bytesOf(headOnly || status === 204 ? '' : body)
    if (this.#request.complete || noMore) {
      this.#give(bytes, () => response.end())
    } else {
      response.flushHeaders()
      this.#give(bytes, () => {})
      this.#endBehindBody()
    }
  }

  begin(status: number, headers: readonly string[], onWritable: () => void): void {
    this.#track()
    this.#response.writeHead(status, STATUS_CODES[status], [...headers])
    this.#response.on('drain', onWritable)
  }

  write(text: string): boolean {
    // Of a stream, only what is not taken shows that its client does not read.
    if (this.#response.writableLength === 0) this.#progress()
    return this.#response.write(text, () => this.#progress())
  }

  end(): void {
    this.#response.end()
  }

  cut(): void {
    // A stream that has nothing to write waits for its server, not for its client.
    if (this.#response.writableLength > 0) this.#request.socket.destroy()
  }

  /** In pieces, so that it is seen how it is taken. */
  #give(bytes: Buffer, done: () => void): void {
    if (bytes.length <= pieceBytes) {
      if (bytes.length > 0) this.#response.write(bytes)
      done()
      return
    }
    this.#response.write(bytes.subarray(0, pieceBytes), (error) => {
      this.#progress()
      if (!error) this.#give(bytes.subarray(pieceBytes), done)
    })
  }

  #track(): void {
    this.#progress()
    const tracked = this.#leaving.add(this)
    // Both, as a connection may be lost before all is handed over.
    for (const event of ['finish', 'close']) {
      this.#response.once(event, () => this.#leaving.delete(tracked))
    }
  }

  #progress(): void {
    this.progressMs = performance.now()
  }

  /** Rule 1. */
  #endBehindBody(): void {
    const request = this.#request
    let bytes = 0
    const giveUp = () => request.socket.destroy()
    const timer = setTimeout(giveUp, longestDiscardMs)
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > mostDiscardedBytes) giveUp()
    })
    request.once('close', () => clearTimeout(timer))
    request.once('end', () => this.#response.end())
  }
}

const bytesOf = (body: string | Uint8Array) =>
  typeof body === 'string'
    ? Buffer.from(body)
    : Buffer.from(body.buffer, body.byteOffset, body.length)

/** Where a refusal is written: a socket, in most cases. */
interface Written {
  write(text: string): unknown
}

/** A connection on which there was no request: it is told. Closing it is its owner's affair. */
export class RefusedClient implements Client {
  readonly #to: Written
  readonly #address: string

  constructor(to: Written, address: string) {
    this.#to = to
    this.#address = address
  }

  address(): string {
    return this.#address
  }

  send({ status, headers, body }: Reply): void {
    const length = String(Buffer.byteLength(body))
    const all = [...headers, 'content-length', length, 'connection', 'close']
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
    for (let i = 0; i < all.length; i += 2) head += `${all[i]}: ${all[i + 1]}\r\n`
    // What is refused is told in text.
    this.#to.write(`${head}\r\n${body as string}`)
  }

  // What is refused is never answered in parts.
  begin(): void {}
  write(): boolean {
    return false
  }
  end(): void {}
}

/**
 * A client on node:http, and a client whose request node:http could not read.
 *
 * Rules
 *   1. While the request's body still arrives, its refusal waits for the end of the body, within
 *      bounds: closing a connection with unread bytes resets it, and most clients, which send
 *      before they read, would see only the reset. The body is dropped.
 *
 * @module
 */

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { dropBytes, dropGapMs, dropMs, type Leaver, type Leaving } from './leaving.js'
import { requestTimeout } from '../reply/reply.js'
import type { Client, Reply } from '../contract.js'

/** This many bytes are handed over at once. */
const pieceBytes = 65_536

export class NodeClient implements Client, Leaver {
  /** The client waits for a `100 Continue` before it sends the body: the body may never come. */
  awaitsContinue = false
  /** The rest of the request cannot be read. */
  #bodyLost = false
  /** Ends the wait for the rest of a refused body. */
  #endDrop: ((came: boolean) => void) | undefined
  progressMs = 0
  #tracked = false
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

  hold(): void {
    this.#track()
  }

  send({ status, headers, body, headOnly, close }: Reply): void {
    const response = this.#response
    if (response.destroyed) return
    const fields = [...headers]
    if (status !== 204) fields.push('content-length', String(Buffer.byteLength(body)))
    const noMore = this.awaitsContinue || this.#bodyLost || status === requestTimeout
    const bytes = bytesOf(headOnly || status === 204 ? '' : body)
    const reply = (last: boolean) => {
      if (last) fields.push('connection', 'close')
      response.writeHead(status, STATUS_CODES[status], fields)
      this.#give(bytes, () => response.end())
    }
    this.#track()
    if (this.#request.complete || noMore) reply(close || noMore)
    else this.#dropBody((came) => reply(close || !came))
  }

  begin(status: number, headers: readonly string[], onWritable: () => void): void {
    this.#track()
    this.#response.writeHead(status, STATUS_CODES[status], [...headers])
    this.#response.on('drain', onWritable)
  }

  write(part: string | Uint8Array): boolean {
    // In a stream, only unread data show that the client does not read.
    if (this.#response.writableLength === 0) this.#progress()
    return this.#response.write(part, () => this.#progress())
  }

  end(): void {
    this.#response.end()
  }

  /** The rest of the request cannot be read: a reply no longer waits for it. */
  loseBody(): void {
    this.#bodyLost = true
    this.#endDrop?.(false)
  }

  cut(): void {
    // A stream without data to write waits for the server, not for its client.
    if (this.#response.writableLength > 0) this.#request.socket.destroy()
  }

  /** In pieces, to see how fast they are taken. */
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
    if (this.#tracked) return
    this.#tracked = true
    const left = this.#leaving.add(this)
    // Both events, as a connection may be lost before everything is handed over.
    for (const event of ['finish', 'close']) {
      this.#response.once(event, () => left.leave())
    }
  }

  #progress(): void {
    this.progressMs = performance.now()
  }

  /** Rule 1. @param done - Called with whether the whole body came. */
  #dropBody(done: (came: boolean) => void): void {
    const request = this.#request
    const endMs = performance.now() + dropMs
    let bytes = 0
    let ended = false
    const end = (came: boolean) => {
      clearTimeout(timer)
      if (!ended && !this.#response.destroyed) done(came)
      ended = true
    }
    this.#endDrop = end
    const timer = setTimeout(() => end(false), dropGapMs)
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > dropBytes || performance.now() > endMs) end(false)
      else if (!ended) timer.refresh()
    })
    request.once('end', () => end(true))
    request.once('close', () => clearTimeout(timer))
  }
}

const bytesOf = (body: string | Uint8Array) =>
  typeof body === 'string'
    ? Buffer.from(body)
    : Buffer.from(body.buffer, body.byteOffset, body.length)

/** The destination of a refusal: usually a socket. */
interface Written {
  write(text: string): unknown
}

/** A connection without a readable request: it gets the error. Its owner closes it. */
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
    // The body of a refusal is text.
    this.#to.write(`${head}\r\n${body as string}`)
  }

  // A refusal is sent at once, and never in parts.
  hold(): void {}
  begin(): void {}
  write(): boolean {
    return false
  }
  end(): void {}
}

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
import type { Reply } from './reply.js'

/** Rule 1. */
const mostDiscardedBytes = 67_108_864
const longestDiscardMs = 10_000

export class NodeClient implements Client {
  /** The client waits to be told before it sends the body: then the body may never come. */
  awaitsContinue = false
  /** The rest of the request cannot be read. */
  bodyLost = false
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #address: string

  constructor(request: IncomingMessage, response: ServerResponse, address: string) {
    this.#request = request
    this.#response = response
    this.#address = address
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
    response.writeHead(status, STATUS_CODES[status], fields)
    const text = headOnly || status === 204 ? '' : body
    if (this.#request.complete || noMore) {
      response.end(text)
    } else {
      if (text === '') response.flushHeaders()
      else response.write(text)
      this.#endBehindBody()
    }
  }

  begin(status: number, headers: readonly string[], onWritable: () => void): void {
    this.#response.writeHead(status, STATUS_CODES[status], [...headers])
    this.#response.on('drain', onWritable)
  }

  write(text: string): boolean {
    return this.#response.write(text)
  }

  end(): void {
    this.#response.end()
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
    this.#to.write(`${head}\r\n${body}`)
  }

  // What is refused is never answered in parts.
  begin(): void {}
  write(): boolean {
    return false
  }
  end(): void {}
}

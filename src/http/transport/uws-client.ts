/**
 * A client on uWebSockets.js: whole replies, and replies in parts that wait for slow clients.
 *
 * Rules
 *   1. Every write is corked: one system call per reply, or per piece of a part.
 *   2. The library does not reveal the bytes that it buffers: neither how many nor when they have
 *      left. So a reply is offered to it (`tryEnd`), and the rest stays here until the library
 *      reports room. A part is written in small pieces; after the first piece that the library had
 *      to buffer, the rest stays here. When the library reports room, it has more room than a piece
 *      takes, so its buffer does not grow.
 *   3. A reply is leaving until the connection has taken all of it.
 *   4. While the request's body still arrives, its refusal waits for the end of the body, within
 *      bounds: the library would close the connection, and most clients, which send before they
 *      read, would see only that. The body is dropped.
 *   5. The library closes a connection after a reply only with `end`, which buffers the rest. So
 *      only short replies are sent that way; longer ones announce the close, and their connection
 *      ends with the server.
 *   6. A reply in parts never asks for the connection to be closed: the library would write that
 *      header into the middle of the body.
 *
 * @module
 */

import { STATUS_CODES } from 'node:http'
import type { HttpResponse } from 'uWebSockets.js'
import type { Membership } from '../../chain.js'
import { dropBytes, dropGapMs, dropMs, type Leaver, type Leaving } from './leaving.js'
import { requestTimeout } from '../reply/reply.js'
import type { Client, Reply } from '../contract.js'

/**
 * Together with the chunk's frame less than the library's cork buffer: of a longer piece the
 * library loses a part when the connection does not take all of it (version 20). When a piece that
 * fits had to be buffered, the library reports that only with the next piece.
 */
const pieceBytes = 8192
/** A connection whose last reply has been read takes this much at once. */
const shortReply = 4096

/** `200 OK` and so on, by status. */
const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([status, reason]) => [Number(status), `${status} ${reason}`]),
)

interface UwsClientOptions {
  readonly leaving: Leaving
  /** The value of `keep-alive` in replies after which the connection stays. */
  readonly keepAlive: string
  /** Called once, when the reply has been handed to the library or the client has gone. */
  readonly onDone: (connection: number) => void
}

export class UwsClient implements Client, Leaver {
  progressMs = 0
  readonly #res: HttpResponse
  readonly #leaving: Leaving
  /** Announced bytes of the body that are still to come; 0 if all have arrived. */
  #bodyBytes: number
  #droppedBytes = 0
  #dropEndMs = 0
  #refusal: Reply | undefined
  #dropTimer: NodeJS.Timeout | undefined
  #left: Membership | undefined
  /** Parts that are not handed to the library yet (rule 2). */
  readonly #kept: Uint8Array[] = []
  readonly #keepAlive: string
  readonly #connection: number
  readonly #onDone: (connection: number) => void
  /** Whether the connection is closed after the reply, whatever its headers say. */
  closes = false
  #blocked = false
  #ending = false
  #done = false

  /**
   * @param bodyBytes - The length of the body, by the head.
   * @param options - Of all clients of the server.
   */
  constructor(res: HttpResponse, bodyBytes: number, connection: number, options: UwsClientOptions) {
    this.#res = res
    this.#bodyBytes = bodyBytes
    this.#leaving = options.leaving
    this.#keepAlive = options.keepAlive
    this.#connection = connection
    this.#onDone = options.onDone
  }

  /** Whether the whole reply has been handed to the library: `res` must not be touched any more. */
  get done(): boolean {
    return this.#done
  }

  address(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1')
  }

  /** Notes a part of the body. */
  receive(bytes: number, last: boolean): void {
    if (last) this.#bodyBytes = 0
    if (this.#refusal === undefined) return
    this.#droppedBytes += bytes
    this.#progress()
    const late = this.progressMs > this.#dropEndMs
    if (last || late || this.#droppedBytes > dropBytes) this.#sendRefusal()
    else this.#dropTimer?.refresh()
  }

  hold(): void {
    this.#track()
  }

  send(reply: Reply): void {
    // More bytes than the refusal waits for make no difference to the sender.
    const noMore = this.#bodyBytes > dropBytes || reply.status === requestTimeout
    if (this.#bodyBytes === 0 || noMore) {
      this.#send(reply)
      return
    }
    this.#refusal = reply
    this.#track()
    this.#dropEndMs = this.progressMs + dropMs
    this.#dropTimer = setTimeout(() => this.#sendRefusal(), dropGapMs).unref()
  }

  begin(status: number, headers: readonly string[], onWritable: () => void): void {
    this.#track()
    this.#res.onWritable(() => {
      this.#progress()
      if (this.#flush() && !this.#ending) onWritable()
      // Lets the library send its buffer.
      return true
    })
    this.#res.cork(() => this.#writeHead(status, headers, this.closes))
  }

  write(part: string | Uint8Array): boolean {
    // In a stream, only unread data show that the client does not read.
    if (this.#kept.length === 0 && !this.#blocked) this.#progress()
    this.#kept.push(typeof part === 'string' ? Buffer.from(part) : part)
    return !this.#blocked && this.#flush()
  }

  end(): void {
    this.#ending = true
    if (!this.#blocked) this.#flush()
  }

  /** The client has gone, or has been cut off. */
  abort(): void {
    this.#finish()
  }

  cut(): void {
    // A stream without data to write waits for the server, not for its client.
    const waiting = this.#blocked || this.#kept.length > 0 || this.#ending
    if (waiting && !this.#done) this.#res.close()
  }

  /** @returns False if bytes had to be buffered, here or by the library. */
  #flush(): boolean {
    this.#blocked = false
    while (this.#kept.length > 0 && !this.#blocked) {
      const part = this.#kept[0]!
      const piece = part.subarray(0, pieceBytes)
      if (piece.length === part.length) this.#kept.shift()
      else this.#kept[0] = part.subarray(pieceBytes)
      this.#res.cork(() => {
        this.#blocked = !this.#res.write(piece)
      })
    }
    if (this.#ending && this.#kept.length === 0 && !this.#blocked) {
      this.#res.cork(() => this.#res.end())
      this.#finish()
    }
    return !this.#blocked
  }

  #sendRefusal(): void {
    const reply = this.#refusal
    if (reply === undefined || this.#done) return
    this.#refusal = undefined
    clearTimeout(this.#dropTimer)
    this.#send(reply)
  }

  #send(reply: Reply): void {
    const { status, headOnly } = reply
    const body = asUtf8(reply.body)
    const close = reply.close || this.closes
    this.#res.cork(() => {
      const long = !headOnly && body.length > shortReply
      this.#writeHead(status, reply.headers, close)
      if (status === 204) {
        this.#res.endWithoutBody()
      } else if (headOnly) {
        // The length is no argument of endWithoutBody: uWebSockets.js 20 then waits for a body.
        this.#res.writeHeader('content-length', String(body.length))
        this.#res.endWithoutBody()
      } else if (close && !long) {
        this.#res.end(body, true)
      } else {
        if (close) this.#res.writeHeader('connection', 'close')
        this.#offer(body)
        return
      }
      this.#finish()
    })
  }

  /** Offers a body to the connection until it has taken all of it. */
  #offer(body: string | Uint8Array): void {
    const { length } = body
    if (this.#try(body, length)) return
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    this.#blocked = true
    this.#track()
    this.#res.onWritable((offset) => {
      this.#progress()
      this.#try(bytes.subarray(offset), length)
      return true
    })
  }

  /** @returns Whether all bytes were taken. */
  #try(rest: string | Uint8Array, length: number): boolean {
    const [, done] = this.#res.tryEnd(rest, length)
    if (done) this.#finish()
    return done
  }

  #track(): void {
    this.#progress()
    this.#left ??= this.#leaving.add(this)
  }

  #progress(): void {
    this.progressMs = performance.now()
  }

  #finish(): void {
    if (this.#done) return
    this.#done = true
    clearTimeout(this.#dropTimer)
    this.#left?.leave()
    this.#onDone(this.#connection)
  }

  #writeHead(status: number, headers: readonly string[], closes: boolean): void {
    const res = this.#res
    res.writeStatus(statusLines.get(status)!)
    // All in one: each call of the library takes as long as some hundred bytes.
    let rest = headers[1]!
    for (let i = 2; i < headers.length; i += 2) rest += `\r\n${headers[i]}: ${headers[i + 1]}`
    if (!closes) rest += `\r\nkeep-alive: ${this.#keepAlive}`
    res.writeHeader(headers[0]!, rest)
  }
}

/**
 * A body in which each unit is a byte: from Node 22 on the library's binaries write a Latin-1 text
 * as it is, but announce its length in UTF-8.
 */
function asUtf8(body: string | Uint8Array): string | Uint8Array {
  const isAscii = typeof body !== 'string' || Buffer.byteLength(body) === body.length
  return isAscii ? body : Buffer.from(body)
}

/**
 * A client on uWebSockets.js: replies whole, and in parts that wait for whoever reads slowly.
 *
 * Rules
 *   1. Everything is written corked: one system call for each reply, or piece of a part.
 *   2. What the library keeps because the connection does not take it, nobody sees: neither how
 *      much it is nor when it has left. So a reply is offered to it (`tryEnd`), and what was not
 *      taken stays here until it reports that there is room again. A part goes in small pieces,
 *      and after the first that it had to keep the rest stays here: more room than a piece takes
 *      is there when it reports, so what it keeps does not grow.
 *   3. A reply is leaving until the connection has taken the last of it.
 *   4. While the request's body still comes, its refusal waits for the end of it, within bounds:
 *      the library would close the connection, and most clients, which send first and read then,
 *      would only see that. What comes is dropped.
 *   5. The library closes a connection behind a reply only with `end`, of which it keeps what is
 *      not taken. So only short replies are sent that way; others say it, and their connection
 *      ends with the server.
 *   6. A reply in parts never asks for the connection to be closed: the library would write that
 *      header into the middle of the body.
 *
 * @module
 */

import { STATUS_CODES } from 'node:http'
import type { HttpResponse } from 'uWebSockets.js'
import type { Link } from '../../chain.js'
import type { Client } from '../exchange/exchange.js'
import { dropBytes, dropGapMs, dropMs, type Leaver, type Leaving } from './leaving.js'
import type { Reply } from '../reply/reply.js'

/**
 * With the frame of a chunk less than the library's buffer for what is corked: of a longer piece it
 * loses a part where the connection does not take all of it (version 20). Of one that fits it
 * tells only with the next that it was kept.
 */
const pieceBytes = 8192
/** Taken at once by a connection whose last reply has been read. */
const shortReply = 4096

/** `200 OK` and so on, by status. */
const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([status, reason]) => [Number(status), `${status} ${reason}`]),
)

export class UwsClient implements Client, Leaver {
  progressMs = 0
  readonly #res: HttpResponse
  readonly #leaving: Leaving
  /** Bytes of the body by its announcement; 0 if all has come. */
  #bodyBytes: number
  #droppedBytes = 0
  #dropEndMs = 0
  #refusal: Reply | undefined
  #dropTimer: NodeJS.Timeout | undefined
  #tracked: Link<Leaver> | undefined
  /** Parts that are not given to the library yet (rule 2). */
  readonly #kept: Uint8Array[] = []
  readonly #keepAlive: string
  /** Whether the connection is closed behind the reply, whatever that says. */
  closes = false
  #blocked = false
  #ending = false
  #done = false

  /**
   * @param bodyBytes - What its head says about the length of the body.
   * @param keepAlive - The value of `keep-alive` in replies behind which the connection stays.
   */
  constructor(res: HttpResponse, leaving: Leaving, bodyBytes: number, keepAlive: string) {
    this.#res = res
    this.#leaving = leaving
    this.#bodyBytes = bodyBytes
    this.#keepAlive = keepAlive
  }

  /** Whether the reply has been given to the library whole: `res` must not be touched any more. */
  get done(): boolean {
    return this.#done
  }

  address(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1')
  }

  /** Takes note of a part of the body. */
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
    // More than would be waited for makes no difference to its sender.
    if (this.#bodyBytes === 0 || this.#bodyBytes > dropBytes) {
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
      // Lets the library send what it kept.
      return true
    })
    this.#res.cork(() => this.#writeHead(status, headers, this.closes))
  }

  write(part: string | Uint8Array): boolean {
    // Of a stream, only what is not taken shows that its client does not read.
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
    // A stream that has nothing to write waits for its server, not for its client.
    const waiting = this.#blocked || this.#kept.length > 0 || this.#ending
    if (waiting && !this.#done) this.#res.close()
  }

  /** @returns False if something had to be kept, here or by the library. */
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

  /** @returns Whether all has been taken. */
  #try(rest: string | Uint8Array, length: number): boolean {
    const [, done] = this.#res.tryEnd(rest, length)
    if (done) this.#finish()
    return done
  }

  #track(): void {
    this.#progress()
    this.#tracked ??= this.#leaving.add(this)
  }

  #progress(): void {
    this.progressMs = performance.now()
  }

  #finish(): void {
    this.#done = true
    clearTimeout(this.#dropTimer)
    this.#leaving.delete(this.#tracked)
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
 * A body of which each unit is a byte: from Node 22 on the library's binaries write a text in
 * Latin-1 where it fits, and announce its length in UTF-8.
 */
function asUtf8(body: string | Uint8Array): string | Uint8Array {
  const isAscii = typeof body !== 'string' || Buffer.byteLength(body) === body.length
  return isAscii ? body : Buffer.from(body)
}

/**
 * A client on uWebSockets.js: replies whole, and in parts that wait for whoever reads slowly.
 *
 * Rules
 *   1. Everything is written corked: one system call per reply, or per piece of a part.
 *   2. What the library cannot send it keeps, without a bound. So parts are given to it in small
 *      pieces, and after the first that it had to keep the rest stays here until it reports that
 *      there is room again: more room than a piece takes, so what it keeps does not grow.
 *   3. A reply in parts never asks for the connection to be closed: the library would write that
 *      header into the middle of the body.
 *
 * What the library does by itself: a client that reads nothing for ten seconds is cut off.
 *
 * @module
 */

import { STATUS_CODES } from 'node:http'
import type { HttpResponse } from 'uWebSockets.js'
import type { Client } from './exchange.js'
import type { Reply } from './reply.js'

const pieceBytes = 16_384

/** `200 OK` and so on, by status. */
const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([status, reason]) => [Number(status), `${status} ${reason}`]),
)

export class UwsClient implements Client {
  readonly #res: HttpResponse
  /** Parts that are not given to the library yet (rule 2). */
  readonly #kept: Uint8Array[] = []
  readonly #keepAlive: string
  /** Whether the connection is closed behind the reply, whatever that says. */
  closes = false
  #blocked = false
  #ending = false

  /** @param keepAlive - The value of `keep-alive` in replies behind which the connection stays. */
  constructor(res: HttpResponse, keepAlive: string) {
    this.#res = res
    this.#keepAlive = keepAlive
  }

  address(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1')
  }

  send(reply: Reply): void {
    this.#res.cork(() => this.#write(reply))
  }

  begin(status: number, headers: readonly string[], onWritable: () => void): void {
    this.#res.onWritable(() => {
      if (this.#flush() && !this.#ending) onWritable()
      // Lets the library send what it kept.
      return true
    })
    this.#res.cork(() => this.#writeHead(status, headers, this.closes))
  }

  write(text: string): boolean {
    this.#kept.push(Buffer.from(text))
    return !this.#blocked && this.#flush()
  }

  end(): void {
    this.#ending = true
    if (!this.#blocked) this.#flush()
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
    if (this.#ending && this.#kept.length === 0) this.#res.cork(() => this.#res.end())
    return !this.#blocked
  }

  #write({ status, headers, body, headOnly, close }: Reply): void {
    const res = this.#res
    const closes = close || this.closes
    this.#writeHead(status, headers, closes)
    if (status === 204) {
      res.endWithoutBody()
    } else if (headOnly) {
      // The length is no argument of endWithoutBody: uWebSockets.js 20 then waits for a body.
      res.writeHeader('content-length', String(Buffer.byteLength(body)))
      res.endWithoutBody()
    } else {
      res.end(body, closes)
    }
  }

  #writeHead(status: number, headers: readonly string[], closes: boolean): void {
    const res = this.#res
    res.writeStatus(statusLines.get(status)!)
    for (let i = 0; i < headers.length; i += 2) res.writeHeader(headers[i]!, headers[i + 1]!)
    if (!closes) res.writeHeader('keep-alive', this.#keepAlive)
  }
}

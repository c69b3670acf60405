/**
 * HTTP as the rules need it: any method, optional headers, bodies of any bytes.
 *
 * @module
 */

import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { replyDecoders } from '../../test/helpers/compressed.js'
import { Failure, show } from './expect.js'
import { exchangeRaw, type RawOptions } from './raw.js'

/** By name, in lower case. */
export type Headers = Readonly<Record<string, string>>

export interface Sent {
  /** Default `GET`, with a body `POST`. */
  readonly method?: string
  /** The path after the base address: `/v1/models`. */
  readonly path: string
  /** Sent unchanged; only `host`, `connection` and the body's length are added. */
  readonly headers?: Headers
  readonly body?: string | Uint8Array
  /** Sends the body in chunks, without its length. */
  readonly chunked?: boolean
  /** Accepts 429 as the reply; otherwise a 429 is retried after the server's wait. */
  readonly impatient?: boolean
  /** On a new connection, whatever else is under way. */
  readonly wide?: boolean
}

export interface Reply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The body, decompressed. */
  readonly text: string
}

export interface TimedReply extends Reply {
  /** Milliseconds from the request to the body's first byte. */
  readonly firstMs: number
  /** And to its last. */
  readonly lastMs: number
}

const limitMs = 120_000
const tries = 3

export class Client {
  readonly #base: URL
  readonly #agent: HttpAgent | HttpsAgent

  /** @param url - The server's address, with or without a path before `/v1`. */
  constructor(url: string) {
    this.#base = new URL(url.endsWith('/') ? url : `${url}/`)
    const options = { keepAlive: true, maxSockets: 8 }
    this.#agent =
      this.#base.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
  }

  /** @throws {@link Failure} without a whole reply. */
  async send(sent: Sent): Promise<TimedReply> {
    for (let left = tries; ; left--) {
      const reply = await this.#exchange(sent)
      if (reply.status !== 429 || sent.impatient || left === 1) return reply
      await sleep(Math.min(60, Number(reply.headers['retry-after'] ?? 1)) * 1000)
    }
  }

  /** Sends raw bytes. @throws {@link Failure} without a whole reply. */
  async raw(bytes: string | Uint8Array, options?: RawOptions): Promise<Reply> {
    const [reply] = await exchangeRaw(this.#base, bytes, 1, options)
    if (reply === undefined) throw new Failure('no whole reply: the connection was closed')
    return reply
  }

  /** Sends raw bytes, and reads all replies until the server closes. @throws {@link Failure}. */
  rawAll(bytes: string): Promise<readonly Reply[]> {
    return exchangeRaw(this.#base, bytes, Infinity)
  }

  /** The path of a request line: after the base address' own path. */
  target(path: string): string {
    return this.#url(path).pathname
  }

  close(): void {
    this.#agent.destroy()
  }

  async #exchange(sent: Sent, again = true): Promise<TimedReply> {
    let asked: ClientRequest | undefined
    try {
      return await new Promise((resolve, reject) => {
        asked = this.#request(sent, resolve)
        // After a reply that came before the body was sent, this changes nothing.
        asked.on('error', reject)
      })
    } catch (error) {
      // The server may close an idle connection just when it is reused.
      if (again && asked?.reusedSocket) return this.#exchange(sent, false)
      const { message } = error as Error
      throw new Failure(`${sent.method ?? ''} ${sent.path}: no whole reply: ${message}`)
    }
  }

  #url(path: string): URL {
    // By hand: `//v1` must stay a path.
    const url = new URL(this.#base)
    url.pathname = this.#base.pathname + path.slice(1)
    return url
  }

  #request(sent: Sent, resolve: (reply: TimedReply) => void): ClientRequest {
    const { path, body, chunked = false, method = body === undefined ? 'GET' : 'POST' } = sent
    const length =
      body === undefined || chunked ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const make = this.#base.protocol === 'https:' ? httpsRequest : httpRequest
    const begun = performance.now()
    const asked = make(
      this.#url(path),
      { method, agent: sent.wide ? false : this.#agent, headers: { ...length, ...sent.headers } },
      (message) => collect(message, asked, begun, resolve),
    )
    asked.setTimeout(limitMs, () => asked.destroy(new Error(`nothing for ${limitMs / 1000} s`)))
    if (chunked && body !== undefined) asked.write(body)
    asked.end(chunked ? undefined : body)
    return asked
  }
}

function collect(
  message: IncomingMessage,
  asked: ClientRequest,
  begun: number,
  resolve: (reply: TimedReply) => void,
): void {
  const parts: Buffer[] = []
  const passed = () => performance.now() - begun
  let firstMs: number | undefined
  message.on('data', (part: Buffer) => {
    firstMs ??= passed()
    parts.push(part)
  })
  message.on('end', () => {
    const lastMs = passed()
    try {
      resolve({
        ...{ firstMs: firstMs ?? lastMs, lastMs },
        status: message.statusCode!,
        headers: Object.fromEntries(
          Object.entries(message.headers).map(([name, value]) => [name, String(value)]),
        ),
        text: decoded(Buffer.concat(parts), message.headers['content-encoding']),
      })
    } catch (error) {
      asked.destroy(error as Error)
    }
  })
  message.on('error', (error) => asked.destroy(error))
}

function decoded(bytes: Buffer, coding: string | undefined): string {
  // HEAD has no body.
  if (coding === undefined || bytes.length === 0) return bytes.toString('utf8')
  const decode = replyDecoders[coding]
  if (decode === undefined) throw new Error(`content-encoding: ${coding}, which was not requested`)
  return Buffer.from(decode(bytes)).toString('utf8')
}

/** The body as JSON. @throws {@link Failure} if it is not JSON. */
export function jsonOf({ status, text }: Reply): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Failure(`status ${status}: expected JSON, got ${show(text)}`)
  }
}

/**
 * One request and its one reply.
 *
 * Rules
 *   1. An exchange ends once: answered, or abandoned because the client has gone. Whatever
 *      comes later (an answer after the deadline, data after a refusal) finds it ended and does
 *      nothing, so a transport is never asked to write twice or to a client that has gone.
 *   2. Every reply, error or not, leaves through `answer()`, which adds the headers that all of
 *      them have. It needs no store: a reply says what of the limits can be known.
 *   3. A reply that is being compressed is the one that is given, unless the client goes; the
 *      exchange ends when it is handed to the transport.
 *
 * @module
 */

import type { Caller } from '../../accounts/accounts.js'
import type { Timings } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import { codedContent, varies } from '../reply/coded-content.js'
import { CodedParts } from '../reply/coded-parts.js'
import type { ExchangeContext } from './exchange-context.js'
import { everyValue, type Head } from '../transport/head.js'
import { pathOf } from '../path.js'
import {
  type Content,
  errorContent,
  headersOf,
  noTimings,
  type Reply,
  type TextContent,
} from '../reply/reply.js'
import { replyCodingOf } from '../reply/reply-coding.js'
import { entryOf, type Told } from '../log/request-entry.js'
import { requestId } from './request-id.js'

/** The transport's side of an exchange. Nothing is called after the client has gone. */
export interface Client {
  /** The address of whoever is at the other end of the connection. Read while a request begins. */
  address(): string
  /** A reply is there and comes soon: the end of the server waits for it. */
  hold(): void
  /** Writes the whole reply. Called at most once, and never together with `begin()`. */
  send(reply: Reply): void
  /**
   * Begins a reply in parts. Called at most once.
   *
   * @param headers - As in {@link Reply}.
   * @param onWritable - Called when what `write()` kept back has left.
   */
  begin(status: number, headers: readonly string[], onWritable: () => void): void
  /**
   * Writes a part, or keeps it until the client has read what came before it.
   *
   * @returns False if the client does not keep up: every part until `onWritable` costs memory.
   */
  write(part: string | Uint8Array): boolean
  /** Ends the reply behind its last part. */
  end(): void
}

const none: readonly string[] = []

export class Exchange {
  readonly id: string
  readonly method: string
  readonly path: string
  protected readonly startMs = performance.now()
  protected caller: Caller | undefined
  /** Set before it is answered. */
  protected told: Told | undefined
  /** With what it has failed. */
  protected failure: unknown
  readonly #client: Client
  readonly #context: ExchangeContext
  readonly #crossOrigin: readonly string[]
  /** Which codings the reply may have. */
  readonly #accepts: string
  #ended = false
  #begun = false
  /** Whether its reply is there and is being compressed. */
  #coding = false
  /** Compresses an answer in parts; undefined: it is not compressed. */
  #parts: CodedParts | undefined
  /** How much later the exchange fails than it could. */
  #delayMs = 0
  /** With what it fails then, whatever comes in between. */
  #putOff: unknown

  constructor(head: Head, client: Client, context: ExchangeContext) {
    this.id = requestId(head.getHeader('x-request-id'))
    this.method = head.getMethod()
    this.path = pathOf(head.getUrl())
    this.#client = client
    this.#context = context
    this.#accepts = head.getHeader('accept-encoding')
    this.#crossOrigin = context.cors?.headers(head.getHeader('origin')) ?? none
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Whether an answer is being written, whole or in parts. */
  get begun(): boolean {
    return this.#begun || this.#ended
  }

  /** Whether the exchange has failed and only its reply is put off. */
  get putOff(): boolean {
    return this.#putOff !== undefined
  }

  /**
   * Finds out whose request it is; from then on its limits are in the reply's headers.
   *
   * @throws {@link OiError} `ERR_API_KEY`; if too many keys from the same address were wrong, with
   *   the time until that is forgotten, and answered late.
   */
  identify(head: Head): Caller {
    const header = head.getHeader('authorization')
    try {
      this.caller = this.#context.authenticate(header, head, this.#client)
    } catch (error) {
      // Only what has failed is counted: a good key is never refused for its neighbours. And
      // whoever sends none at all tries nothing out.
      const wrong = error instanceof OiError && error.code === 'ERR_API_KEY' && header !== ''
      if (!wrong) throw error
      const { failedKeys, trustedProxies } = this.#context
      const forwarded = everyValue(head, 'x-forwarded-for')
      const tooMany = failedKeys.count(trustedProxies.clientOf(this.#client.address(), forwarded))
      if (tooMany === undefined) throw error
      const { retryAfterMs, delayMs } = tooMany
      this.#delayMs = delayMs
      throw new OiError('ERR_API_KEY', error.message, { retryAfterMs, cause: error })
    }
    return this.caller
  }

  /** @returns The answer to a browser's question what a page may do; undefined if it is none. */
  preflight(head: Head, methods: string): Content | undefined {
    return this.#context.cors?.preflight(head, methods)
  }

  answer(content: Content, timings: Timings = noTimings): void {
    if (this.#ended || this.#coding) return
    const coded = codedContent(content, this.#accepts)
    if (!(coded instanceof Promise)) return this.#give(coded, timings)
    this.#coding = true
    this.#client.hold()
    coded
      .then((ready) => {
        if (!this.#ended) this.#give(ready, timings)
      })
      .catch((error: unknown) => {
        this.#coding = false
        this.fail(error)
      })
  }

  #give(content: Content, timings: Timings): void {
    const totalMs = performance.now() - this.startMs
    // Complete before the exchange counts as ended: whatever fails here can still be answered.
    const reply: Reply = {
      status: content.status,
      headers: this.#headers(content, timings, totalMs),
      body: content.body,
      headOnly: this.method === 'head',
      close: this.#context.closing,
    }
    this.#end(content.status, totalMs)
    this.#client.send(reply)
  }

  fail(error: unknown): void {
    if (this.#ended || this.#coding) return
    if (this.#putOff !== undefined) {
      error = this.#putOff
    } else if (this.#delayMs > 0) {
      this.#putOff = error
      if (this.#context.failedKeys.hold(this.#delayMs, () => this.fail(error))) return
    }
    this.failure = error
    const content = this.errorContent(error)
    if (content.status === 500) this.#context.logger.fault(this.id, error, this.bodyDigest())
    this.answer(content)
  }

  /**
   * Begins an answer in parts, with status 200: from now on `write()` and `finish()`.
   *
   * @param type - Its content type.
   * @param onWritable - Called when the client has read what `write()` kept back.
   */
  protected beginParts(type: string, onWritable: () => void): void {
    const client = this.#client
    const coding = replyCodingOf(this.#accepts)
    const own = coding === undefined ? varies : [...varies, 'content-encoding', coding.name]
    const totalMs = performance.now() - this.startMs
    const headers = this.#headers({ type, headers: own }, noTimings, totalMs)
    const give = (part: Uint8Array) => client.write(part)
    const lost = () => {
      this.abandon()
      client.end()
    }
    const parts = coding && new CodedParts({ coding, give, onWritable, lost })
    this.#parts = parts
    this.#begun = true
    client.begin(200, headers, parts === undefined ? onWritable : () => parts.resume())
  }

  /** @returns False if the client does not keep up. */
  protected write(text: string): boolean {
    return this.#parts === undefined ? this.#client.write(text) : this.#parts.write(text)
  }

  protected finish(): void {
    const end = () => {
      this.#end(200, performance.now() - this.startMs)
      this.#client.end()
    }
    if (this.#parts === undefined) end()
    else this.#parts.end(end)
  }

  /** The client has gone: nothing more may be written. */
  abandon(): void {
    if (!this.#ended) this.#end(0, performance.now() - this.startMs)
  }

  /** Takes a part of the body, which most requests do not want. @param chunk - Valid during the call. */
  receive(_chunk: Uint8Array, _last: boolean): void {}

  /** By which a body can be recognised that must not be shown; undefined where there is none. */
  protected bodyDigest(): string | undefined {
    return undefined
  }

  /** Of its trace; a hook for kinds of requests that have one. */
  protected get traceId(): string | undefined {
    return undefined
  }

  /** Headers of its kind of request; a hook. */
  protected ownHeaders(): readonly string[] {
    return none
  }

  /** What is told of an error; a hook for kinds of requests that have a form of their own. */
  protected errorContent(error: unknown): TextContent {
    return errorContent(error, this.id)
  }

  /** Called once, whatever the end was. @param status - 0 if the client had gone. */
  protected onEnd(_status: number, _ms: number): void {}

  #headers(content: Pick<Content, 'type' | 'headers'>, timings: Timings, totalMs: number) {
    return [
      ...headersOf(this.id, timings, totalMs, content),
      ...this.ownHeaders(),
      ...this.#limits(),
      ...this.#crossOrigin,
    ]
  }

  #limits(): readonly string[] {
    if (this.caller === undefined) return none
    try {
      return this.#context.gate.headers(this.caller)
    } catch {
      // The accounts cannot be read (rule 2). What needs them has said so, or will.
      return none
    }
  }

  #end(status: number, ms: number): void {
    this.#ended = true
    this.#parts?.drop()
    this.onEnd(status, ms)
    this.#context.traffic.count(this.path, status)
    const { request } = this.#context.logger
    if (request !== undefined) {
      const { id, method, path, caller, told, failure, traceId: trace } = this
      request(entryOf({ id, method, path, status, ms, caller, told, failure, trace }))
    }
    // A connection may keep its last exchange for long.
    this.told = undefined
    this.failure = undefined
  }
}

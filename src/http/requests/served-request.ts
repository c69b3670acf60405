/**
 * One request and its one reply.
 *
 * Rules
 *   1. A request ends once: answered, or abandoned because the client has gone. Later events (an
 *      answer after the deadline, data after a refusal) do nothing, so a transport is never asked
 *      to write twice, or to a client that has gone.
 *   2. Every reply, error or not, leaves through `answer()`, which adds the common headers. It
 *      needs no store: a reply states as much of the limits as is known.
 *   3. A reply that is being compressed will be sent unless the client goes; the request ends when
 *      the reply is handed to the transport.
 *
 * @module
 */

import type { Caller } from '../../accounts/accounts.js'
import type { Timings } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import { codedContent, varies } from '../reply/coded-content.js'
import { CodedParts } from '../reply/coded-parts.js'
import type { RequestContext } from './request-context.js'
import { pathOf } from '../path.js'
import { errorContent, headersOf, noTimings, requestTimeout } from '../reply/reply.js'
import { replyCodingOf } from '../reply/reply-coding.js'
import { entryOf, type Told, wireCodeOf } from '../log/request-entry.js'
import { requestId } from '../reply/request-id.js'
import { type Client, type Content, everyValue, type Head, type Reply } from '../contract.js'

const none: readonly string[] = []

export class ServedRequest {
  readonly id: string
  readonly method: string
  readonly path: string
  protected readonly startMs = performance.now()
  protected caller: Caller | undefined
  /** Set before the request is answered. */
  protected told: Told | undefined
  /** The error it failed with. */
  protected failure: unknown
  readonly #client: Client
  readonly #context: RequestContext
  readonly #crossOrigin: readonly string[]
  /** The codings that the client accepts. */
  readonly #accepts: string
  #ended = false
  #begun = false
  /** Whether the reply exists and is being compressed. */
  #coding = false
  /** Compresses an answer in parts; undefined: no compression. */
  #parts: CodedParts | undefined
  /** How long the reply of a failure is delayed. */
  #delayMs = 0
  /** The error of a delayed failure; later events do not change it. */
  #putOff: unknown

  constructor(head: Head, client: Client, context: RequestContext) {
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

  /** Whether the request has failed and only its reply is delayed. */
  get putOff(): boolean {
    return this.#putOff !== undefined
  }

  /**
   * Identifies the caller; from then on, the caller's limits are in the reply's headers.
   *
   * @throws {@link OiError} `ERR_API_KEY`; after too many wrong keys from the same address, with
   *   the time until they are forgotten, and answered late.
   */
  identify(head: Head): Caller {
    const header = head.getHeader('authorization')
    try {
      this.caller = this.#context.authenticate(header, head, this.#client)
    } catch (error) {
      // Only failures are counted: a valid key is never refused because of other callers at its
      // address. A request without a key is no attempt to guess one.
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

  /** @returns The reply to a CORS preflight request; undefined if the request is none. */
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
    // Complete before the request counts as ended: a failure here can still be answered.
    const reply: Reply = {
      status: content.status,
      headers: this.#headers(content, timings, totalMs),
      body: content.body,
      headOnly: this.method === 'head',
      // A body that did not come in time is not waited for.
      close: this.#context.closing || content.status === requestTimeout,
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
    const content = errorContent(error, this.id)
    if (content.status === 500) this.#context.logger.fault(this.id, error, this.bodyDigest())
    this.answer(content, error instanceof OiError ? error.spent : undefined)
  }

  /**
   * Begins an answer in parts, with status 200: `write()` and `finish()` follow.
   *
   * @param type - Its content type.
   * @param onWritable - Called when the client has read the parts that `write()` queued.
   * @param further - Headers beside the common ones: name, value, ….
   */
  protected beginParts(type: string, onWritable: () => void, further = none): void {
    const client = this.#client
    const coding = replyCodingOf(this.#accepts)
    const coded = coding === undefined ? none : ['content-encoding', coding.name]
    const own = [...varies, ...coded, ...further]
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

  /** @returns False if the client reads too slowly. */
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

  /** The client has gone before it had the whole reply: nothing more is written. */
  abandon(): void {
    if (!this.#ended) this.#end(0, performance.now() - this.startMs)
  }

  /** The client has had the whole reply, as it has sent another request behind it; a hook. */
  arrived(): void {}

  /** Takes a part of the body; most requests ignore it. @param chunk - Valid during the call. */
  receive(_chunk: Uint8Array, _last: boolean): void {}

  /** A digest that identifies a body without showing it; undefined if there is no body. */
  protected bodyDigest(): string | undefined {
    return undefined
  }

  /** The id of the request's trace; a hook for kinds of requests that have one. */
  protected get traceId(): string | undefined {
    return undefined
  }

  /** Headers of this kind of request; a hook. */
  protected ownHeaders(): readonly string[] {
    return none
  }

  /** Called once, however the request ended. @param status - 0 if the client had gone. */
  protected onEnd(_status: number, _ms: number): void {}

  #headers(content: Pick<Content, 'type' | 'headers'>, timings: Timings, totalMs: number) {
    const headers = headersOf(this.id, timings, totalMs, content)
    // One at a time: several in one call are first copied into a list of their own.
    headers.push(...this.ownHeaders())
    headers.push(...this.#limits())
    headers.push(...this.#crossOrigin)
    return headers
  }

  #limits(): readonly string[] {
    if (this.caller === undefined) return none
    try {
      return this.#context.admission.headers(this.caller)
    } catch {
      // The accounts cannot be read (rule 2). The code that needs them reports that.
      return none
    }
  }

  #end(status: number, ms: number): void {
    this.#ended = true
    this.#parts?.drop()
    this.onEnd(status, ms)
    const { traffic } = this.#context
    traffic.count(this.path, status)
    if (this.failure !== undefined && status !== 0 && this.path.startsWith('/v1/')) {
      traffic.countRefusal(wireCodeOf(this.failure))
    }
    const { request } = this.#context.logger
    if (request !== undefined) {
      const { id, method, path, caller, told, failure, traceId: trace } = this
      request(entryOf({ id, method, path, status, ms, caller, told, failure, trace }))
    }
    // A connection may keep its last request for a long time.
    this.told = undefined
    this.failure = undefined
  }
}

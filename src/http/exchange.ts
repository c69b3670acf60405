/**
 * One request and its one reply.
 *
 * Rules
 *   1. An exchange ends once: answered, or abandoned because the client has gone. Whatever
 *      comes later (an answer after the deadline, data after a refusal) finds it ended and does
 *      nothing, so a transport is never asked to write twice or to a client that has gone.
 *   2. Every reply, error or not, leaves through `answer()`, which adds the headers that all of
 *      them have.
 *
 * @module
 */

import type { Caller } from '../accounts/accounts.js'
import type { Timings } from '../decide/types.js'
import type { Logger } from './logger.js'
import { type Content, errorContent, headersOf, noTimings, type Reply } from './reply.js'
import { requestId } from './request-id.js'

/** The head of a request, in the form that uWebSockets.js gives it; valid during one call. */
export interface Head {
  /** In lower case. */
  getMethod(): string
  /** The path, without the query. */
  getUrl(): string
  /** @returns `''` if there is no such header. @param name - In lower case. */
  getHeader(name: string): string
}

/** The transport's side of an exchange. */
export interface Client {
  /** Writes the reply. Called at most once, and not after the client has gone. */
  send(reply: Reply): void
}

/** What all exchanges of a server share. */
export interface ExchangeContext {
  readonly logger: Logger
  /** True while the server shuts down: connections are closed behind their replies. */
  readonly closing: boolean
}

export class Exchange {
  readonly id: string
  readonly method: string
  readonly path: string
  protected readonly startMs = performance.now()
  protected caller: Caller | undefined
  readonly #client: Client
  readonly #context: ExchangeContext
  #ended = false

  constructor(head: Head, client: Client, context: ExchangeContext) {
    this.id = requestId(head.getHeader('x-request-id'))
    this.method = head.getMethod()
    this.path = head.getUrl()
    this.#client = client
    this.#context = context
  }

  get ended(): boolean {
    return this.#ended
  }

  answer(content: Content, timings: Timings = noTimings): void {
    if (this.#ended) return
    const totalMs = performance.now() - this.startMs
    // Complete before the exchange counts as ended: whatever fails here can still be answered.
    const reply: Reply = {
      status: content.status,
      headers: headersOf(this.id, timings, totalMs, content.headers),
      body: content.body,
      headOnly: this.method === 'head',
      close: this.#context.closing,
    }
    this.#end(content.status, totalMs)
    this.#client.send(reply)
  }

  fail(error: unknown): void {
    if (this.#ended) return
    const content = errorContent(error, this.id)
    if (content.status === 500) this.#context.logger.fault(this.id, error)
    this.answer(content)
  }

  /** The client has gone: nothing more may be written. */
  abandon(): void {
    if (!this.#ended) this.#end(0, performance.now() - this.startMs)
  }

  /** Called once, whatever the end was. */
  protected onEnd(): void {}

  #end(status: number, ms: number): void {
    this.#ended = true
    this.onEnd()
    const { id, method, path, caller } = this
    this.#context.logger.request?.({
      id,
      method,
      path,
      status,
      ms: Math.round(ms * 1000) / 1000,
      ...(caller && { workspace: caller.workspace }),
    })
  }
}

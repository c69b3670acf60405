/**
 * POST /v1/systemone: one request, from its head to its reply.
 *
 * @module
 */

import type { Decider, DecideRequest, Decided } from '../../decide/types.js'
import type { OiError } from '../../errors.js'
import type { Client } from './exchange.js'
import type { Head } from '../transport/head.js'
import { requireNamed } from '../bodies/multipart.js'
import { Outcome } from './outcome.js'
import { type PostContext, PostExchange } from './post-exchange.js'
import { cachedTokensHeader } from '../reply/reply.js'

export class DecideExchange extends PostExchange {
  readonly #outcome: Outcome
  #entered = false
  #decidedMs = 0

  constructor(head: Head, client: Client, context: PostContext) {
    super(head, client, context)
    this.#outcome = new Outcome({
      serialize: (decision) => this.serialize(decision, 0, (each) => this.textOf(each)),
      book: (decision) => {
        return this.charge.book(0, (retry) => context.gate.book(this.caller!, decision, retry))
      },
      give: (decision, body, charged) => {
        const { timings } = decision
        this.told = decision
        this.trace?.part('book', this.#decidedMs)
        context.traffic.addPhases(timings)
        const cached = [cachedTokensHeader, String(decision.cached_tokens)]
        const headers = [...cached, ...this.charge.headers(charged)]
        this.answer({ status: 200, body, headers }, timings)
      },
      fail: (error) => this.fail(error),
    })
  }

  override cancel(error: OiError): void {
    if (!this.#outcome.open) return
    this.#outcome.fail(error)
    this.canceller.abort(error)
  }

  protected override decide(text: string, decider: Decider): void | Promise<void> {
    if (this.charge.mayRepeat && !this.charge.isFree(0))
      this.context.gate.requireFunds(this.caller!)
    const request = this.readText(text)
    if (!(request instanceof Promise)) return this.#enter(request, decider)
    return request.then((read) => this.#enter(read, decider))
  }

  /** @throws {@link OiError} As {@link decide}. */
  protected readText(text: string): DecideRequest | Promise<DecideRequest> {
    return this.context.wire.readRequest(text, this.form, this.ignored)
  }

  /** The text of the reply. */
  protected textOf(decision: Decided): string {
    return this.context.wire.serializeDecision(decision)
  }

  protected override onEnd(status: number, ms: number): void {
    super.onEnd(status, ms)
    if (this.#entered) this.context.gate.leave(this.caller!)
    if (status === 200) this.context.traffic.observe(ms)
  }

  /** Takes a place, perhaps later, and then asks the decider. */
  #enter(request: DecideRequest, decider: Decider): void | Promise<void> {
    if (this.ended) return
    requireNamed(this.files, [request])
    const { gate } = this.context
    let admitted: Promise<void> | undefined
    try {
      admitted = gate.enter(this.caller!, { signal: this.canceller })
    } catch (error) {
      this.#refuse(error)
      return
    }
    if (admitted === undefined) return this.#ask(request, decider)
    const beginMs = performance.now()
    return admitted.then(
      () => {
        this.trace?.part('place', beginMs)
        if (this.ended) gate.leave(this.caller!)
        else this.#ask(request, decider)
      },
      (error: unknown) => this.#refuse(error),
    )
  }

  /** No place was free: the request does not count for the minute. */
  #refuse(error: unknown): void {
    if (this.ended) return
    this.context.gate.giveBack(this.caller!)
    this.#outcome.fail(error)
  }

  #ask(request: DecideRequest, decider: Decider): void {
    this.#entered = true
    const askedMs = performance.now()
    const leftMs = this.context.deadlines.limitMs - (askedMs - this.startMs)
    decider.decide(request, this.decideOptions(this.canceller, leftMs)).then(
      (decision) => {
        if (this.trace !== undefined) this.#tell(decision, askedMs)
        this.#outcome.decide(decision)
      },
      (error: unknown) => this.#outcome.fail(error),
    )
  }

  #tell({ timings }: Decided, askedMs: number): void {
    this.#decidedMs = performance.now()
    this.trace!.decision(askedMs, timings)
  }
}

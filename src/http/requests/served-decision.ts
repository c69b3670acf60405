/**
 * POST /v1/systemone: one request, from its head to its reply.
 *
 * @module
 */

import type { Decider, DecideRequest, Decided } from '../../decide/types.js'
import type { OiError } from '../../errors.js'
import { requireNamed } from '../bodies/multipart.js'
import { Outcome, type OutcomeOwner } from './outcome.js'
import { ServedPost } from './served-post.js'
import { cachedTokensHeader } from '../reply/reply.js'
import { workOf } from './too-late.js'

export class ServedDecision extends ServedPost implements OutcomeOwner {
  readonly #outcome = new Outcome(this)
  #entered = false
  /** Who was asked, and for which model. */
  #decider: Decider | undefined
  #model: string | undefined
  #decidedMs = 0

  replyText(decision: Decided): string {
    return this.serialize(decision)
  }

  book(decision: Decided): Promise<boolean> | undefined {
    const { admission } = this.context
    return this.charge.book(0, (retry) => admission.book(this.caller!, decision, retry))
  }

  give(decision: Decided, body: string, charged: boolean): void {
    const { timings } = decision
    this.told = decision
    this.trace?.part('book', this.#decidedMs)
    this.context.traffic.addPhases(timings)
    const headers = [cachedTokensHeader, String(decision.cached_tokens)]
    headers.push(...this.charge.headers(charged))
    this.answer({ status: 200, body, headers }, timings)
  }

  override cancel(error: OiError): void {
    if (!this.#outcome.open) return
    this.#outcome.fail(error)
    this.canceller.abort(error)
  }

  protected override decide(text: string, decider: Decider): void | Promise<void> {
    if (this.charge.mayRepeat && !this.charge.isFree(0))
      this.context.admission.requireFunds(this.caller!)
    const request = this.readText(text)
    if (!(request instanceof Promise)) return this.#enter(request, decider)
    return request.then((read) => this.#enter(read, decider))
  }

  /** @throws {@link OiError} As {@link decide}. */
  protected readText(text: string): DecideRequest | Promise<DecideRequest> {
    return this.context.wire.readRequest(text, this.form, this.ignored)
  }

  protected override onEnd(status: number, ms: number): void {
    super.onEnd(status, ms)
    if (this.#entered) this.context.admission.leave(this.caller!)
    if (status === 200) this.context.traffic.observe(ms)
  }

  /** Takes a place, perhaps later, and then asks the decider. */
  #enter(request: DecideRequest, decider: Decider): void | Promise<void> {
    if (this.ended) return
    requireNamed(this.files, [request])
    const { admission } = this.context
    let admitted: Promise<void> | undefined
    try {
      admitted = admission.enter(this.caller!, { signal: this.canceller })
    } catch (error) {
      this.#refuse(error)
      return
    }
    if (admitted === undefined) return this.#ask(request, decider)
    const beginMs = performance.now()
    return admitted.then(
      () => {
        this.trace?.part('place', beginMs)
        if (this.ended) admission.leave(this.caller!)
        else this.#ask(request, decider)
      },
      (error: unknown) => this.#refuse(error),
    )
  }

  protected override waitedFor(): string {
    return this.#decider === undefined ? '' : workOf(this.#decider, this.#model)
  }

  /** No place was free: the request does not count for the minute. */
  #refuse(error: unknown): void {
    if (this.ended) return
    this.context.admission.giveBack(this.caller!)
    this.#outcome.fail(error)
  }

  #ask(request: DecideRequest, decider: Decider): void {
    this.#entered = true
    this.#decider = decider
    this.#model = request.model
    const askedMs = performance.now()
    decider.decide(request, this.decideOptions(this.canceller, this.leftMs)).then(
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

/**
 * POST /v1/systemone: one request from its head to its answers.
 *
 * @module
 */

import type { Decider, Decision } from '../decide/types.js'
import { PostExchange } from './post-exchange.js'

export class DecideExchange extends PostExchange {
  protected override decide(text: string, decider: Decider): void {
    const request = this.context.wire.readRequest(text)
    decider.decide(request, this.decideOptions()).then(
      (decision) => this.#succeed(decision),
      (error: unknown) => this.fail(error),
    )
  }

  protected override onEnd(status: number, ms: number): void {
    super.onEnd(status, ms)
    if (status === 200) this.context.traffic.observe(ms)
  }

  #succeed(decision: Decision): void {
    // Also when the client has gone: the model has done the work.
    const booked = this.caller && this.context.gate.book(this.caller, decision)
    if (booked === undefined) this.#reply(decision)
    else {
      booked.then(
        () => this.#reply(decision),
        (error: unknown) => this.fail(error),
      )
    }
  }

  #reply(decision: Decision): void {
    if (this.ended) return
    try {
      const body = this.context.wire.serializeDecision(decision)
      this.answer({ status: 200, body }, decision.timings)
    } catch (error) {
      this.fail(error)
    }
  }
}

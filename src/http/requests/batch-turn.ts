/**
 * One item of a batch while it is with the decider: its time limit and its cancellation.
 *
 * @module
 */

import { Canceller } from './canceller.js'
import type { Deadlines, Expirable } from './deadlines.js'
import type { Outcome } from './outcome.js'
import { tooLate } from './too-late.js'
import type { Membership } from '../../chain.js'

export class BatchTurn implements Expirable {
  readonly canceller = new Canceller()
  readonly #deadlines: Deadlines
  readonly #outcome: Outcome
  readonly #limit: Membership
  readonly #waitedFor: () => string

  /** @param waitedFor - What is known of the work that the item waits for, as `workOf`. */
  constructor(deadlines: Deadlines, outcome: Outcome, waitedFor: () => string) {
    this.#deadlines = deadlines
    this.#outcome = outcome
    this.#waitedFor = waitedFor
    this.#limit = deadlines.add(this)
  }

  /** Ends the time limit. */
  end(): void {
    this.#limit.leave()
  }

  expire(): void {
    const { limitMs } = this.#deadlines
    const error = tooLate('item', limitMs, this.#waitedFor())
    // An item that is decided is being booked, and is still given.
    if (!this.#outcome.open) return
    this.#outcome.fail(error)
    this.canceller.abort(error)
  }
}

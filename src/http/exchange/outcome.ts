/**
 * How one request ends, or one item of a batch: the only place in which a decision becomes a
 * reply and a charge.
 *
 * Rules
 *   1. It is settled once. Whichever comes first counts: the decision, or what ends the request
 *      otherwise (its deadline, the server's end, a fault). What comes later does nothing: a
 *      request that was refused is never booked, and one that was decided is not refused.
 *   2. Everything that can fail comes before the booking: the reply's text is there, and fits.
 *   3. A client that has gone settles nothing: the model has done the work, which is booked.
 *   4. What could not be booked is not given: the request ends with the error of the booking,
 *      which promises that it is never charged.
 *
 * @module
 */

import type { Decided } from '../../decide/types.js'

export interface OutcomeOptions {
  /** The reply's text. What it throws ends the request. */
  readonly serialize: (decision: Decided) => string
  /** As `Gate.book`. */
  readonly book: (decision: Decided) => Promise<void> | undefined
  /** Neither of them may throw; one is called, once. */
  readonly give: (decision: Decided, text: string) => void
  readonly fail: (error: unknown) => void
}

export class Outcome {
  readonly #options: OutcomeOptions
  #open = true

  constructor(options: OutcomeOptions) {
    this.#options = options
  }

  /** False once it is settled, even if its booking is still being written. */
  get open(): boolean {
    return this.#open
  }

  fail(error: unknown): void {
    if (!this.#open) return
    this.#open = false
    this.#options.fail(error)
  }

  decide(decision: Decided): void {
    if (!this.#open) return
    this.#open = false
    const { serialize, book, give, fail } = this.#options
    let text: string
    let booked: Promise<void> | undefined
    try {
      text = serialize(decision)
      booked = book(decision)
    } catch (error) {
      fail(error)
      return
    }
    if (booked === undefined) give(decision, text)
    else void booked.then(() => give(decision, text), fail)
  }
}

/**
 * How a request, or an item of a batch, ends: the only place where a decision becomes a reply and a
 * charge.
 *
 * Rules
 *   1. An outcome is settled once, by whatever comes first: the decision, or another end of the
 *      request (its deadline, the server's close, a fault). Later events do nothing: a refused
 *      request is never booked, and a decided request is never refused.
 *   2. Everything that can fail comes before the booking: the reply's text exists, and fits.
 *   3. A client that leaves settles nothing: the model has done the work, so it is booked.
 *   4. A decision that could not be booked is not given: the request ends with the booking's error,
 *      which promises that it is never charged.
 *
 * @module
 */

import type { Decided } from '../../decide/types.js'

export interface OutcomeOptions {
  /** Makes the reply's text. An error that it throws ends the request. */
  readonly serialize: (decision: Decided) => string
  /** As `Gate.book`. */
  readonly book: (decision: Decided) => Promise<boolean> | undefined
  /**
   * Neither of these may throw; one of them is called, once.
   *
   * @param charged - Whether the decision was booked now, and not before.
   */
  readonly give: (decision: Decided, text: string, charged: boolean) => void
  readonly fail: (error: unknown) => void
}

export class Outcome {
  readonly #options: OutcomeOptions
  #open = true

  constructor(options: OutcomeOptions) {
    this.#options = options
  }

  /** False once settled, even while the booking is still being written. */
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
    let booked: Promise<boolean> | undefined
    try {
      text = serialize(decision)
      booked = book(decision)
    } catch (error) {
      fail(error)
      return
    }
    if (booked === undefined) give(decision, text, true)
    else void booked.then((charged) => give(decision, text, charged), fail)
  }
}

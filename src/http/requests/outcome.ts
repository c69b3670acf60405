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

/** Whose outcome it is: a request, or an item of a batch. */
export interface OutcomeOwner {
  /** Makes the reply's text. An error that it throws ends the request. */
  replyText(decision: Decided): string
  /** As `Admission.book`. */
  book(decision: Decided): Promise<boolean> | undefined
  /**
   * Neither of these may throw; one of them is called, once.
   *
   * @param charged - Whether the decision was booked now, and not before.
   */
  give(decision: Decided, text: string, charged: boolean): void
  fail(error: unknown): void
}

export class Outcome {
  readonly #owner: OutcomeOwner
  #open = true

  constructor(owner: OutcomeOwner) {
    this.#owner = owner
  }

  /** False once settled, even while the booking is still being written. */
  get open(): boolean {
    return this.#open
  }

  fail(error: unknown): void {
    if (!this.#open) return
    this.#open = false
    this.#owner.fail(error)
  }

  decide(decision: Decided): void {
    if (!this.#open) return
    this.#open = false
    const owner = this.#owner
    let text: string
    let booked: Promise<boolean> | undefined
    try {
      text = owner.replyText(decision)
      booked = owner.book(decision)
    } catch (error) {
      owner.fail(error)
      return
    }
    if (booked === undefined) {
      owner.give(decision, text, true)
      return
    }
    void booked.then(
      (charged) => owner.give(decision, text, charged),
      (error: unknown) => owner.fail(error),
    )
  }
}

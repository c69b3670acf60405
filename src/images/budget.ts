/**
 * A budget of something that is used for a while, such as memory: takers wait for their turn.
 *
 * First come, first served, even if a later taker would fit before: so a large amount is never
 * overtaken for ever.
 *
 * @module
 */

import type { Cancellation } from '../engine/types.js'
import { OiError } from '../errors.js'

interface Waiting {
  readonly amount: number
  start(): void
}

export class Budget {
  readonly total: number
  #free: number
  /** In the order of arrival. */
  readonly #waiting = new Set<Waiting>()

  constructor(total: number) {
    this.total = total
    this.#free = total
  }

  /**
   * Waits for its turn and for the amount, and takes it.
   *
   * @param amount - More than the whole budget counts as the whole budget.
   * @returns Gives the amount back. Further calls do nothing.
   * @throws {@link OiError} `ERR_ABORTED` if the signal is aborted before that.
   */
  async take(amount: number, signal?: Cancellation): Promise<() => void> {
    requireWanted(signal)
    const taken = Math.min(amount, this.total)
    if (this.#waiting.size === 0 && taken <= this.#free) this.#free -= taken
    else await this.#turn(taken, signal)
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#free += taken
      this.#serve()
    }
  }

  #turn(amount: number, signal: Cancellation | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.delete(waiting)
        reject(aborted())
        // The next waiter may fit.
        this.#serve()
      }
      const start = () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      const waiting = { amount, start }
      this.#waiting.add(waiting)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  #serve(): void {
    for (const waiting of this.#waiting) {
      if (waiting.amount > this.#free) return
      this.#waiting.delete(waiting)
      this.#free -= waiting.amount
      waiting.start()
    }
  }
}

/** @throws {@link OiError} `ERR_ABORTED` if the signal is aborted. */
export function requireWanted(signal: Cancellation | undefined): void {
  if (signal?.aborted) throw aborted()
}

function aborted(): OiError {
  return new OiError('ERR_ABORTED', 'The request was cancelled')
}

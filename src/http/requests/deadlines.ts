/**
 * Timeouts of equal length: the first added is the first to expire.
 *
 * Only the first entry needs a timer, so a request costs no timer calls.
 *
 * @module
 */

import { Chain, type Membership } from '../../chain.js'

export interface Expirable {
  /** Called once when the time is up, unless the entry has left. Must not throw. */
  expire(): void
}

interface Due {
  readonly entry: Expirable
  /** On the clock of `performance.now()`. */
  readonly atMs: number
}

export class Deadlines {
  readonly limitMs: number
  readonly #due = new Chain<Due>()
  #timer: NodeJS.Timeout | undefined

  /** @param limitMs - The time limit of each entry, from when it is added. */
  constructor(limitMs: number) {
    this.limitMs = limitMs
  }

  add(entry: Expirable): Membership {
    const atMs = performance.now() + this.limitMs
    this.#timer ??= this.#arm(atMs)
    return this.#due.add({ entry, atMs })
  }

  #arm(dueMs: number): NodeJS.Timeout {
    // Rounded up: a timer that fires a fraction too early would have to be set again.
    const delayMs = Math.max(1, Math.ceil(dueMs - performance.now()))
    return setTimeout(() => this.#sweep(), delayMs).unref()
  }

  #sweep(): void {
    this.#timer = undefined
    const now = performance.now()
    for (let due = this.#due.first; due !== undefined; due = this.#due.first) {
      if (due.atMs > now) {
        this.#timer = this.#arm(due.atMs)
        return
      }
      this.#due.shift()
      due.entry.expire()
    }
  }
}

/**
 * Time limits that are the same for all: what was added first is over first.
 *
 * A Map keeps that order, and only its first entry needs a timer: a request costs no timer calls.
 *
 * @module
 */

export interface Expirable {
  /** Called once when the time is up, unless it was deleted before. Must not throw. */
  expire(): void
}

export class Deadlines {
  readonly limitMs: number
  /** When each is due, on the clock of `performance.now()`. */
  readonly #due = new Map<Expirable, number>()
  #timer: NodeJS.Timeout | undefined

  /** @param limitMs - What each entry has from the moment at which it is added. */
  constructor(limitMs: number) {
    this.limitMs = limitMs
  }

  add(entry: Expirable): void {
    const dueMs = performance.now() + this.limitMs
    this.#due.set(entry, dueMs)
    this.#timer ??= this.#arm(dueMs)
  }

  delete(entry: Expirable): void {
    this.#due.delete(entry)
  }

  #arm(dueMs: number): NodeJS.Timeout {
    // Rounded up: a timer that fires a fraction too early would have to be set again.
    const delayMs = Math.max(1, Math.ceil(dueMs - performance.now()))
    return setTimeout(() => this.#sweep(), delayMs).unref()
  }

  #sweep(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const [entry, dueMs] of this.#due) {
      if (dueMs > now) {
        this.#timer = this.#arm(dueMs)
        return
      }
      this.#due.delete(entry)
      entry.expire()
    }
  }
}

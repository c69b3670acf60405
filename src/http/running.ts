/**
 * The requests under way: their common time limit, and waiting for the last of them.
 *
 * All have the same limit, so the order in which they began is the order in which they expire.
 * A Set keeps it, and only its first entry needs a timer: a request costs no timer calls.
 *
 * @module
 */

export interface Expirable {
  /** When it expires, on the clock of `performance.now()`. */
  readonly dueMs: number
  /** Ends it, which deletes it from the set. */
  expire(): void
}

export class Running<T extends Expirable> {
  readonly #entries = new Set<T>()
  #timer: NodeJS.Timeout | undefined
  #emptied: (() => void) | undefined

  get size(): number {
    return this.#entries.size
  }

  /** @param entry - Due no earlier than those that were added before it. */
  add(entry: T): void {
    this.#entries.add(entry)
    this.#timer ??= this.#arm(entry)
  }

  delete(entry: T): void {
    this.#entries.delete(entry)
    if (this.#entries.size === 0) this.#emptied?.()
  }

  /** Resolves when nothing is running, or with what is left after `limitMs`. */
  async drain(limitMs: number): Promise<readonly T[]> {
    if (this.#entries.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limitMs)
        this.#emptied = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return [...this.#entries]
  }

  #arm(first: T): NodeJS.Timeout {
    // Rounded up: a timer that fires a fraction too early would have to be set again.
    const delayMs = Math.max(1, Math.ceil(first.dueMs - performance.now()))
    return setTimeout(() => this.#sweep(), delayMs).unref()
  }

  #sweep(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const entry of this.#entries) {
      if (entry.dueMs > now) {
        this.#timer = this.#arm(entry)
        return
      }
      entry.expire()
    }
  }
}

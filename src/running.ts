/**
 * Requests in progress, and the wait until none is left.
 *
 * @module
 */

import { Chain, type Membership } from './chain.js'

export class Running<T> {
  readonly #entries: Chain<T>
  readonly #waiting: (() => void)[] = []

  /** @param emptied - Called when none is left. */
  constructor(emptied?: () => void) {
    this.#entries = new Chain(() => {
      emptied?.()
      for (const tell of this.#waiting.splice(0)) tell()
    })
  }

  get size(): number {
    return this.#entries.size
  }

  add(entry: T): Membership {
    return this.#entries.add(entry)
  }

  /** The requests in progress now. */
  entries(): readonly T[] {
    return this.#entries.values()
  }

  /** Resolves when none is left, or with the rest after `limitMs`. */
  async drain(limitMs: number): Promise<readonly T[]> {
    if (this.#entries.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limitMs)
        this.#waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    return this.entries()
  }
}

/**
 * Requests in progress, and the wait until none is left.
 *
 * @module
 */

import { Chain, type Leave } from './chain.js'

export class Running<T> {
  readonly #entries = new Chain<T>()
  readonly #emptied: (() => void)[] = []

  get size(): number {
    return this.#entries.size
  }

  add(entry: T): Leave {
    const leave = this.#entries.add(entry)
    return () => {
      leave()
      if (this.#entries.size > 0) return
      for (const emptied of this.#emptied.splice(0)) emptied()
    }
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
        this.#emptied.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    return this.entries()
  }
}

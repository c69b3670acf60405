/**
 * The requests under way, and waiting for the last of them.
 *
 * @module
 */

export class Running<T> {
  readonly #entries = new Set<T>()
  readonly #emptied: (() => void)[] = []

  get size(): number {
    return this.#entries.size
  }

  add(entry: T): void {
    this.#entries.add(entry)
  }

  delete(entry: T): void {
    this.#entries.delete(entry)
    if (this.#entries.size > 0) return
    for (const emptied of this.#emptied.splice(0)) emptied()
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#entries.values()
  }

  /** Resolves when nothing is running, or with what is left after `limitMs`. */
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
    return [...this.#entries]
  }
}

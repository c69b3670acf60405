/**
 * Whether values read from the accounts may be out of date.
 *
 * The connection tells of changes by others. Code that writes on it notes its changes here.
 *
 * @module
 */

import type { Connection } from './store/connection.js'

export class Changes {
  readonly #db: Connection
  readonly #writer: () => number
  #openings = 0
  #others: number | undefined
  #wrote = false
  #count = 0

  /** @param writer - This process' writer number; 0 while it has none. */
  constructor(db: Connection, writer: () => number) {
    this.#db = db
    this.#writer = writer
    this.look()
  }

  /** Grows with each change: values read at a smaller count may be out of date. */
  get count(): number {
    return this.#count
  }

  /**
   * Checks for changes by others.
   *
   * @returns The count.
   * @throws {@link OiError} `ERR_OVERLOADED` while the file cannot be read.
   */
  look(): number {
    const { openings } = this.#db
    const others = this.#db.changesByOthers(this.#writer(), this.#wrote)
    this.#wrote = false
    if (others !== this.#others || openings !== this.#openings) this.#count++
    this.#openings = openings
    this.#others = others
    return this.#count
  }

  /** Notes a write of this connection. */
  mark(): void {
    this.#count++
    this.#wrote = true
  }
}

/**
 * Whether values read from the accounts may be out of date.
 *
 * SQLite tells a connection of other connections' writes, for a third of the cost of a look-up.
 * Another thread writes this process' bookings, so they count as such writes: the tally (schema.ts)
 * minus this process' own bookings shows whether others changed anything. Code that writes on this
 * connection notes its changes.
 *
 * @module
 */

import type { Connection } from './store/connection.js'

export class Changes {
  readonly #db: Connection
  readonly #writer: () => number
  #version: number | undefined
  #openings = 0
  #others: number | undefined
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
    return this.#db.use(() => {
      const version = this.#db.pluck<[], number>('PRAGMA data_version').get()!
      const { openings } = this.#db
      if (version === this.#version && openings === this.#openings) return this.#count
      const others = this.#db
        .pluck<[number], number>(
          `SELECT total - coalesce((SELECT written FROM writers WHERE id = ?), 0) FROM tally`,
        )
        .get(this.#writer())
      if (others !== this.#others || openings !== this.#openings) this.#count++
      this.#version = version
      this.#openings = openings
      this.#others = others
      return this.#count
    })
  }

  /** Notes a write of this connection. */
  mark(): void {
    this.#count++
    // Its part of the tally must not count as another's.
    this.#version = undefined
  }
}

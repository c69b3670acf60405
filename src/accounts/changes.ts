/**
 * Whether what was read from the accounts may be out of date.
 *
 * SQLite tells a connection of other connections' writes, for a third of the price of a look-up,
 * and not of its own: those are noted by whoever makes them.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'

export class Changes {
  readonly #query: Sqlite.Statement<[], number>
  #version: number
  #count = 0

  constructor(db: Sqlite.Database) {
    this.#query = db.prepare<[], number>('PRAGMA data_version').pluck()
    this.#version = this.#query.get()!
  }

  /** Grows with each change: what was read at a smaller count may be out of date. */
  get count(): number {
    return this.#count
  }

  /** Looks for writes of other connections. @returns The count. */
  look(): number {
    const version = this.#query.get()!
    if (version !== this.#version) {
      this.#version = version
      this.#count++
    }
    return this.#count
  }

  /** Notes a write of this connection. */
  mark(): void {
    this.#count++
  }
}

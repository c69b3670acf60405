/**
 * When each key was last used, written in the background.
 *
 * A request must not wait for a disk, so uses are collected in memory and written together,
 * at most once per interval and at close. A write that finds the file busy is tried again with
 * the next one; a crash loses one interval.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'

const intervalMs = 1000

export class LastUsed {
  readonly #usedMs = new Map<number, number>()
  readonly #write: (entries: Map<number, number>) => void
  #timer: NodeJS.Timeout | undefined

  constructor(db: Sqlite.Database) {
    // Another process may have seen the key later than this one.
    const update = db.prepare('UPDATE keys SET used_ms = max(coalesce(used_ms, 0), ?) WHERE id = ?')
    this.#write = db.transaction((entries: Map<number, number>) => {
      for (const [keyId, usedMs] of entries) update.run(usedMs, keyId)
    }).immediate
  }

  mark(keyId: number): void {
    this.#usedMs.set(keyId, Date.now())
    this.#timer ??= setTimeout(() => this.flush(), intervalMs).unref()
  }

  /** Writes what has been collected. Never throws: a lost time stamp fails no request. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#usedMs.size === 0) return
    try {
      this.#write(this.#usedMs)
      this.#usedMs.clear()
    } catch {
      // Busy or out of space. The entries stay for the write that the next use starts.
    }
  }
}

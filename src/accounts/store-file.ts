/**
 * Which file the accounts' path leads to, while it is open.
 *
 * A file that is moved away stays open, and everything written to it is lost to whoever looks by
 * name; one that was put in its place is opened instead. But never beside the log of the one
 * before: SQLite would take that for its own.
 *
 * @module
 */

import { statSync } from 'node:fs'
import { sqlite } from './sqlite.js'

/** Which file, and which log. */
export interface Noted {
  readonly file?: string | undefined
  readonly log?: string | undefined
}

export class StoreFile {
  readonly path: string
  #found: string | undefined
  #file: string | undefined
  #log: string | undefined

  /** @param noted - What was open elsewhere in this process. */
  constructor(path: string, noted: Noted = {}) {
    this.path = path
    this.#file = noted.file
    this.#log = noted.log
  }

  get noted(): Noted {
    return { file: this.#file, log: this.#log }
  }

  /** Whether the path still leads to the file that was noted. Never throws. */
  get same(): boolean {
    try {
      return this.#file !== undefined && this.#file === identity(this.path)
    } catch {
      return false
    }
  }

  /** Notes that the file which {@link check} has found is open, and its log. */
  note(): void {
    this.#file = this.#found
    this.#log = identity(`${this.path}-wal`)
  }

  /**
   * To be called before the path is opened: what takes its name from then on is another file.
   *
   * @throws `SqliteError` If there is no file, or another one beside the old log.
   */
  check(): void {
    const file = (this.#found = identity(this.path))
    const { SqliteError } = sqlite()
    if (file === undefined) throw new SqliteError('it is not there', 'SQLITE_CANTOPEN')
    if (this.#file === undefined || this.#file === file || this.#log === undefined) return
    if (this.#log !== identity(`${this.path}-wal`)) return
    throw new SqliteError(
      'it was replaced, and accounts.db-wal beside it was not: restore both, or remove that',
      'SQLITE_CANTOPEN',
    )
  }
}

/** It changes when another file takes the name; undefined: there is none. */
function identity(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

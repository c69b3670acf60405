/**
 * Detects that the accounts' path leads to another file while the accounts are open.
 *
 * A file that is moved away stays open, and data written to it cannot be found by its name; a file
 * that replaced it is opened instead. But never beside the previous file's WAL: SQLite would take
 * that for its own.
 *
 * @module
 */

import { statSync } from 'node:fs'
import { sqlite } from './sqlite.js'

/** The identity of the file, and of its WAL. */
export interface Noted {
  readonly file?: string | undefined
  readonly log?: string | undefined
}

export class StoreFile {
  readonly path: string
  #found: string | undefined
  #file: string | undefined
  #log: string | undefined

  /** @param noted - Opened elsewhere in this process. */
  constructor(path: string, noted: Noted = {}) {
    this.path = path
    this.#file = noted.file
    this.#log = noted.log
  }

  get noted(): Noted {
    return { file: this.#file, log: this.#log }
  }

  /** Whether the path still leads to the noted file. Never throws. */
  get same(): boolean {
    try {
      return this.#file !== undefined && this.#file === identity(this.path)
    } catch {
      return false
    }
  }

  /** Notes that the file found by {@link check} is open, and its WAL. */
  note(): void {
    this.#file = this.#found
    this.#log = identity(`${this.path}-wal`)
  }

  /**
   * Called before the path is opened: a file that takes its name later is another one.
   *
   * @throws `SqliteError` if there is no file, or another one beside the old WAL.
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

/** Changes when another file takes the name; undefined: no file. */
function identity(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

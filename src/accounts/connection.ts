/**
 * A connection to the accounts that may fail at every call, and comes back.
 *
 * Rules
 *   1. Whoever reads or writes through `use()` gets a result, an OiError of its own, or
 *      `ERR_OVERLOADED`: never an error of SQLite's.
 *   2. After a failure the file is opened anew, at most once a second: SQLite keeps pages that it
 *      found damaged, and a file that was replaced is only found by its name.
 *   3. Statements belong to the connection that is open now, so nobody keeps one.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import { accountsPath, connect, openDatabase } from './database.js'
import { isSqliteError } from './sqlite.js'
import { isBusy, unavailable } from './store-errors.js'
import { StoreFile } from './store-file.js'

const reopenMs = 1000

export class Connection {
  readonly file: StoreFile
  readonly #busyMs: number
  readonly #statements = new Map<string, Sqlite.Statement<unknown[]>>()
  readonly #plucked = new Map<string, Sqlite.Statement<unknown[]>>()
  #db: Sqlite.Database
  #failingSinceMs: number | undefined
  #reopenAtMs = 0
  #mustReopen = false
  #openings = 1
  #closed = false

  /** @throws {@link OiError} `ERR_ACCOUNTS` if the data folder cannot be used. */
  constructor(dataDir: string, busyMs: number, log: (text: string) => void) {
    this.file = new StoreFile(accountsPath(dataDir))
    this.#busyMs = busyMs
    this.#db = openDatabase(dataDir, busyMs, log)
    this.file.check()
    this.file.note()
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Grows when the file is opened anew: what was read before may be of another file. */
  get openings(): number {
    return this.#openings
  }

  /** For how long no call has succeeded, milliseconds; 0 if the last one did. */
  get failingMs(): number {
    return this.#failingSinceMs === undefined ? 0 : performance.now() - this.#failingSinceMs
  }

  /** A statement of the connection that is open now; valid until `use()` returns. */
  prepare<Parameters extends unknown[], Result = unknown>(sql: string) {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare<unknown[]>(sql)
      this.#statements.set(sql, statement)
    }
    // One text has one type wherever it stands, which a map of texts cannot say.
    return statement as unknown as Sqlite.Statement<Parameters, Result>
  }

  /** As {@link prepare}, for the first column alone. */
  pluck<Parameters extends unknown[], Result>(sql: string) {
    let statement = this.#plucked.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare<unknown[]>(sql).pluck()
      this.#plucked.set(sql, statement)
    }
    return statement as unknown as Sqlite.Statement<Parameters, Result>
  }

  /** Runs calls that read or write (rule 1). */
  use<T>(calls: () => T): T {
    try {
      if (this.#mustReopen) this.#reopen()
      const result = calls()
      this.#failingSinceMs = undefined
      return result
    } catch (error) {
      // After close() it is the caller's fault, and still no reason to end the process.
      if (!isSqliteError(error) && this.#db.open) throw error
      this.#failingSinceMs ??= performance.now()
      if (!isBusy(error)) this.expectReopening()
      throw unavailable('used', error)
    }
  }

  /** Runs calls in one transaction that sees the file as it is now, and writes alone. */
  write<T>(calls: () => T): T {
    return this.use(() => this.#db.transaction(calls).immediate())
  }

  /** Runs calls in one transaction that sees the file as it was at the first of them. */
  read<T>(calls: () => T): T {
    return this.use(() => this.#db.transaction(calls).deferred())
  }

  /** The file may be another one, or damaged: the next call opens it anew. */
  expectReopening(): void {
    if (!this.#closed) this.#mustReopen = true
  }

  /** Idempotent. Never throws. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#statements.clear()
    this.#plucked.clear()
    this.#db.close()
  }

  #reopen(): void {
    const now = performance.now()
    if (now < this.#reopenAtMs) return
    this.#reopenAtMs = now + reopenMs
    this.file.check()
    const db = connect(this.file.path, this.#busyMs)
    this.file.note()
    this.#statements.clear()
    this.#plucked.clear()
    this.#db.close()
    this.#db = db
    this.#mustReopen = false
    this.#openings++
  }
}

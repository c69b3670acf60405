/**
 * SQLite's file as a connection.
 *
 * Rules, beside those of connection.ts
 *   1. After a failure the file is reopened, at most once a second: SQLite caches pages that it
 *      found damaged, and only the name leads to a file that was replaced.
 *   2. Statements belong to the current connection, so no caller keeps one.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import type { Connection } from './connection.js'
import { accountsPath, connect, openDatabase } from './database.js'
import { isSqliteError } from './sqlite.js'
import { isBusy, unavailable } from './store-errors.js'
import { StoreFile } from './store-file.js'

const reopenMs = 1000

/** How long remembered keys are accepted while the file cannot be read. */
const graceMs = 30_000

export class SqliteConnection implements Connection {
  readonly graceMs = graceMs
  readonly remote = false
  /** One writer at a time has the file. */
  readonly forUpdate = ''
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
  #version: number | undefined
  #versionOf = 0
  #others = 0

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

  /** Grows when the file is reopened: earlier values may be of another file. */
  get openings(): number {
    return this.#openings
  }

  /** How long all calls have failed, milliseconds; 0 if the last one succeeded. */
  get failingMs(): number {
    return this.#failingSinceMs === undefined ? 0 : performance.now() - this.#failingSinceMs
  }

  /** A statement of the current connection; valid until `use()` returns. */
  prepare<Parameters extends unknown[], Result = unknown>(sql: string) {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare<unknown[]>(sql)
      this.#statements.set(sql, statement)
    }
    // Each SQL text always has the same type, which a map of texts cannot express.
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
      // After close() it is a bug of the caller, and still no reason to end the process.
      if (!isSqliteError(error) && this.#db.open) throw error
      this.#failingSinceMs ??= performance.now()
      if (!isBusy(error)) this.expectReopening()
      throw unavailable('used', error)
    }
  }

  /** Runs calls in one transaction that sees the current file and holds the write lock. */
  write<T>(calls: () => T): T {
    return this.use(() => this.#db.transaction(calls).immediate())
  }

  /** Runs calls in one transaction that sees the file as of its first call. */
  read<T>(calls: () => T): T {
    return this.use(() => this.#db.transaction(calls).deferred())
  }

  /**
   * SQLite tells a connection of other connections' writes, for a third of the cost of a look-up.
   * Another thread writes this process' bookings, so they count as such writes: the tally
   * (schema.ts) minus this process' own bookings shows whether others changed anything.
   */
  changesByOthers(writer: number, wrote: boolean): number {
    return this.use(() => {
      const version = this.pluck<[], number>('PRAGMA data_version').get()!
      const same = version === this.#version && this.#openings === this.#versionOf
      // Its own part of the tally must not count as another's later.
      if (same && !wrote) return this.#others
      this.#others = this.pluck<[number], number>(
        `SELECT total - coalesce((SELECT written FROM writers WHERE id = ?), 0) FROM tally`,
      ).get(writer)!
      this.#version = version
      this.#versionOf = this.#openings
      return this.#others
    })
  }

  /** AUTOINCREMENT does. */
  continueIds(): void {}

  damages(): readonly string[] {
    return this.pluck<[], string>('PRAGMA quick_check(10)')
      .all()
      .filter((text) => text !== 'ok')
      .map((text) => `The file is damaged: ${text}`)
  }

  /** The file may be another one, or damaged: the next call reopens it. */
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

/**
 * A connection to the accounts, wherever they are: SQLite's file (sqlite-connection.ts), or
 * PostgreSQL (postgres/connection.ts). Every call may fail, and the connection recovers.
 *
 * Rules
 *   1. Calls through `use()` give a result, an OiError of their own, or `ERR_OVERLOADED`: never an
 *      error of the store.
 *   2. Statements belong to the moment: no caller keeps one.
 *   3. The SQL is what both understand: SQLite's, with a target for each `ON CONFLICT`, types that
 *      both have, and `?` for values.
 *
 * @module
 */

/** One SQL text, with the values of its `?`. */
export interface Statement<Parameters extends unknown[], Result> {
  get(...values: Parameters): Result | undefined
  all(...values: Parameters): Result[]
  run(...values: Parameters): unknown
}

export interface Connection {
  readonly closed: boolean
  /** Grows when another file or server may have taken the place: earlier values may be of that. */
  readonly openings: number
  /** How long all calls have failed, milliseconds; 0 if the last one succeeded. */
  readonly failingMs: number
  /** How long what was read may be used while the accounts cannot be read, milliseconds. */
  readonly graceMs: number
  /** Whether a call takes as long as a network: what can be kept or read together should be. */
  readonly remote: boolean
  /** Behind a `SELECT` within `write()` whose row others may change at the same time. */
  readonly forUpdate: string

  prepare<Parameters extends unknown[], Result = unknown>(
    sql: string,
  ): Statement<Parameters, Result>
  /** As {@link prepare}, for the first column alone. */
  pluck<Parameters extends unknown[], Result>(sql: string): Statement<Parameters, Result>
  /** Runs calls that read or write (rule 1). */
  use<T>(calls: () => T): T
  /** Runs calls in one transaction, beside which no other `write()` runs. */
  write<T>(calls: () => T): T
  /** Runs calls in one transaction that sees the accounts as of its first call. */
  read<T>(calls: () => T): T
  /**
   * Whether others have changed what was read before, with a number that differs after each change.
   *
   * @param writer - This process' writer, whose bookings are no such change; 0: it has none.
   * @param wrote - Whether this connection has written since the last call.
   * @throws {@link OiError} `ERR_OVERLOADED` while that cannot be known.
   */
  changesByOthers(writer: number, wrote: boolean): number
  /** After rows with ids of their own: the next row gets a later one. */
  continueIds(table: string): void
  /** What is wrong with the store itself, one sentence each. */
  damages(): readonly string[]
  /** Idempotent. Never throws. */
  close(): void
}

/** Whether a node goes on with what it has read before, while it cannot read. */
export const isInGrace = ({ remote, failingMs, graceMs }: Connection): boolean =>
  remote && failingMs > 0 && failingMs < graceMs

/** One statement as a call of its own. @returns The row, if there is one. */
export const selectOne = <Row>(db: Connection, sql: string, ...values: unknown[]) =>
  db.use(() => db.prepare<unknown[], Row>(sql).get(...values))

export const selectAll = <Row>(db: Connection, sql: string, ...values: unknown[]) =>
  db.use(() => db.prepare<unknown[], Row>(sql).all(...values))

export const execute = (db: Connection, sql: string, ...values: unknown[]) =>
  db.use(() => db.prepare(sql).run(...values))

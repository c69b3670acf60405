/**
 * Keys of repeated requests in the file: see retry-keys.ts.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import type { Booking } from './booking.js'

/** Keys of a workspace at most; beyond that, the oldest are forgotten. */
export const mostRetryKeys = 1_000_000
/** Rows that are deleted at once: others' writes wait for milliseconds. */
export const rowsAtOnce = 5000
const deleteSome = (which: string) => `DELETE FROM retry_keys WHERE (workspace_id, key, item) IN
  (SELECT workspace_id, key, item FROM retry_keys WHERE ${which} LIMIT ${rowsAtOnce})`
/** What ends keys that count no longer, in either store. */
export const forgettingSql = {
  /** Bind the time. */
  someExpired: deleteSome('until_ms <= ?'),
  /** Bind the most that a workspace may have. */
  tooMany: `SELECT workspace_id AS id, count(*) AS count FROM retry_keys GROUP BY 1 HAVING count(*) > ?`,
  /** Bind the workspace. */
  someOldest: deleteSome('workspace_id = ? ORDER BY until_ms'),
}

/** Why a booking with a key was not made: for the same request before, or for another one. */
export type Kept = 'repeated' | 'reused'

/**
 * The time that keys of retries live by, milliseconds since 1970: that at this thread's start, and
 * what has passed since. So a clock that is set meanwhile ends none of them.
 */
export const retryNowMs = (): number => Math.floor(performance.timeOrigin + performance.now())

interface Row {
  readonly request: string
  readonly writer: number
  readonly number: number
}

/** A workspace with too many keys. */
export interface Over {
  readonly id: number
  readonly count: number
}

/** Statements on one connection; call them within a transaction. */
export function retryKeyWriter(db: Sqlite.Database) {
  const insert = db.prepare(
    `INSERT INTO retry_keys (workspace_id, key, item, request, writer, number, until_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET request = excluded.request, writer = excluded.writer,
       number = excluded.number, until_ms = excluded.until_ms WHERE until_ms <= ?`,
  )
  const remove = db.prepare(
    'DELETE FROM retry_keys WHERE workspace_id = ? AND key = ? AND item = ? AND request = ?',
  )
  const find = db.prepare<[number, string, number], Row>(
    'SELECT request, writer, number FROM retry_keys WHERE workspace_id = ? AND key = ? AND item = ?',
  )

  /** Why a booking of this writer and number was not made; undefined: it was. */
  const keptOf = ({ workspaceId, retry }: Booking, writer: number, number: number) => {
    const row = retry && find.get(workspaceId, retry.key, retry.item)
    if (row === undefined || (row.writer === writer && row.number === number)) return undefined
    return row.request === retry!.request ? 'repeated' : 'reused'
  }

  return {
    keptOf,

    /** Notes the key of a booking, if it has one. @returns Whether the booking is to be made. */
    keep(booking: Booking, writer: number, number: number): boolean {
      const { retry, workspaceId, requests } = booking
      if (retry === undefined) return true
      const { key, item, request, untilMs } = retry
      if (requests < 0) {
        remove.run(workspaceId, key, item, request)
        return true
      }
      const row = [workspaceId, key, item, request, writer, number, untilMs]
      if (insert.run(...row, retryNowMs()).changes > 0) return true
      // Another request was answered under this key, too late to refuse it.
      return retry.answered && keptOf(booking, writer, number) === 'reused'
    },
  }
}

/** Deletes keys that count no longer, some at a time. Waits for nobody. */
export function forgetRetryKeys(db: Sqlite.Database): void {
  const expired = db.prepare<[number]>(forgettingSql.someExpired)
  while (expired.run(retryNowMs()).changes === rowsAtOnce);
  const over = db.prepare<[number], Over>(forgettingSql.tooMany).all(mostRetryKeys)
  const oldest = db.prepare<[number]>(forgettingSql.someOldest)
  for (const { id, count } of over) {
    for (let left = count - mostRetryKeys; left > 0; left -= rowsAtOnce) oldest.run(id)
  }
}

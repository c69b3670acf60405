/**
 * Bookings into the file: rows where money is at stake, and sums of all usage.
 *
 * Rules
 *   1. A workspace's balance is the sum of its rows' amounts, always: both change in one
 *      transaction. While it is unlimited (NULL), amounts are 0 and the sum is 0 (credits.ts
 *      books away what is left when the limit is lifted).
 *   2. An answer has a row where it costs something or there is a balance. All others are in the
 *      sums of their hour, day, key and model only: at 1,000 free answers a second their rows would
 *      be 4 GB a day that nobody ever asks for.
 *   3. Nothing is booked twice. Bookings have numbers, ascending for each writer, which is a
 *      number that each process takes from the file; the writer's row says up to which number
 *      they are in the file, and that changes in the same transaction.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import { addTo, type Booking, dayMs, hourMs, type Sum, sumKey } from './booking.js'

/** For how many days usage is kept by the hour; by the day it is kept for good. */
export const hourDays = 92

/** A number for bookings that no other writer has. */
export function newWriter(db: Sqlite.Database): number {
  const insert = db.prepare('INSERT INTO writers (opened_ms) VALUES (?)')
  return Number(insert.run(Date.now()).lastInsertRowid)
}

/** @returns Up to which number a writer's bookings are in the file; undefined: it has no row. */
export function writtenBy(db: Sqlite.Database, writer: number): number | undefined {
  return db
    .prepare<[number], number>('SELECT written FROM writers WHERE id = ?')
    .pluck()
    .get(writer)
}

/** Statements that write bookings, for one connection; call it within a transaction. */
export function bookingWriter(db: Sqlite.Database) {
  const balanceOf = db
    .prepare<[number], number | null>('SELECT balance FROM workspaces WHERE id = ?')
    .pluck()
  const insertRows = rowInserter(db)
  const addUsage = addingTo(db, 'usage', ['workspace_id', 'day', 'model'])
  const addKeyUsage = addingTo(db, 'key_usage', ['key_id', 'day', 'model'])
  const addHour = addingTo(db, 'hour_usage', ['hour', 'workspace_id', 'key_id', 'model'])
  const forget = db.prepare<[number]>('DELETE FROM hour_usage WHERE hour < ?')
  let forgotOn: number | undefined
  const charge = db.prepare('UPDATE workspaces SET balance = balance - ? WHERE id = ?')
  const note = db.prepare('UPDATE writers SET written = max(written, ?) WHERE id = ?')
  const count = db.prepare('UPDATE tally SET total = total + ?')

  /**
   * @param first - The number of the first of them.
   * @param written - {@link writtenBy}, read in the same transaction.
   * @returns Of how many answers the workspace is not there: they are left out.
   */
  return (bookings: readonly Booking[], writer: number, first: number, written: number) => {
    let homeless = 0
    const limited = new Map<number, boolean>()
    const sums = new Map<string, Sum>()
    const charges = new Map<number, number>()
    const rows: (number | string)[] = []
    for (let i = Math.max(0, written + 1 - first); i < bookings.length; i++) {
      const booking = bookings[i]!
      const { workspaceId, cost } = booking
      let isLimited = limited.get(workspaceId)
      if (isLimited === undefined) {
        const balance = balanceOf.get(workspaceId)
        // A file that was restored may not have the workspace: one booking must not stop all.
        if (balance === undefined) {
          homeless += booking.requests
          continue
        }
        isLimited = balance !== null
        limited.set(workspaceId, isLimited)
      }
      // What was answered while the balance was unlimited is not charged to a later one.
      const charged = isLimited && booking.charged ? cost : 0
      if (charged !== 0) charges.set(workspaceId, (charges.get(workspaceId) ?? 0) + charged)
      if (isLimited || cost !== 0) {
        rows.push(
          ...[writer, first + i, workspaceId, booking.keyId, booking.timeMs, booking.model],
          ...[booking.requests, booking.inputTokens, booking.outputTokens],
          ...[booking.imageTokens, booking.cachedTokens, cost],
          // Not -0, which SQLite takes for no integer.
          charged === 0 ? 0 : -charged,
        )
      }
      const key = sumKey(booking)
      const sum = sums.get(key)
      if (sum === undefined) sums.set(key, { ...booking })
      else addTo(sum, booking)
    }
    insertRows(rows)
    for (const sum of sums.values()) {
      const { workspaceId, keyId, model, inputTokens, outputTokens, imageTokens } = sum
      const day = Math.floor(sum.timeMs / dayMs)
      const hour = Math.floor(sum.timeMs / hourMs)
      const tokens = [inputTokens, outputTokens, imageTokens, sum.cachedTokens]
      const used = [model, sum.requests, ...tokens, sum.cost]
      addUsage.run(workspaceId, day, ...used)
      if (keyId > 0) addKeyUsage.run(keyId, day, ...used)
      addHour.run(hour, workspaceId, keyId, ...used)
    }
    const today = Math.floor(Date.now() / dayMs)
    if (today !== forgotOn) forget.run((today - hourDays) * 24)
    forgotOn = today
    for (const [workspaceId, cost] of charges) charge.run(cost, workspaceId)
    const last = first + bookings.length - 1
    note.run(last, writer)
    if (last > written) count.run(last - written)
    return homeless
  }
}

const rowColumns = [
  ...['writer', 'number', 'workspace_id', 'key_id', 'time_ms', 'model', 'rows', 'input_tokens'],
  ...['output_tokens', 'image_tokens', 'cached_tokens', 'cost', 'amount'],
]
/** Rows of one statement, at most: 16 take half the time of as many statements. */
const rowsAtOnce = 16

/** Inserts rows of answers; takes the values of all of them in one list. */
function rowInserter(db: Sqlite.Database) {
  const row = `('usage', ${rowColumns.map(() => '?').join(', ')})`
  const insertOf = (rows: number) =>
    db.prepare<[(number | string)[]]>(
      `INSERT INTO ledger (kind, ${rowColumns.join(', ')}) VALUES ${Array(rows).fill(row).join()}`,
    )
  /** By their number of rows. */
  const statements: ReturnType<typeof insertOf>[] = []
  const most = rowsAtOnce * rowColumns.length
  return (values: readonly (number | string)[]) => {
    for (let at = 0; at < values.length; at += most) {
      const some = values.slice(at, at + most)
      const rows = some.length / rowColumns.length
      ;(statements[rows] ??= insertOf(rows)).run(some)
    }
  }
}

/** Adds to a row of sums, or makes it. These tables have the same columns behind their keys. */
function addingTo(db: Sqlite.Database, table: string, key: readonly string[]) {
  const tokens = ['input_tokens', 'output_tokens', 'image_tokens', 'cached_tokens']
  const columns = ['requests', ...tokens, 'cost']
  const all = [...key, ...columns]
  return db.prepare<(number | string)[]>(
    `INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})
     ON CONFLICT DO UPDATE SET
       ${columns.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
  )
}

/**
 * Writes bookings into the file: rows where money is at stake, and sums of all usage.
 *
 * Rules
 *   1. A workspace's balance is always the sum of its rows' amounts: both change in one
 *      transaction. While it is unlimited (NULL), amounts are 0 and the sum is 0 (credits.ts books
 *      the rest away when the limit is lifted).
 *   2. An answer has a row if it costs something or there is a balance. All others are only in the
 *      sums of their hour, day, key and model: at 1,000 free answers a second their rows would be 4
 *      GB a day that nobody ever reads.
 *   3. Nothing is booked twice. Bookings have ascending numbers per writer, and each process takes
 *      a writer number from the file; the writer's row says up to which number its bookings are in
 *      the file, and changes in the same transaction.
 *   4. A booking with a key is made once for it; the index on keys decides (retry-keys.ts).
 *   5. A booking that cannot be made is set aside, as it came and in the same transaction, and the
 *      others are made: otherwise one that always fails would block all later ones.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import { type Booking, dayMs, describe, hourMs, mergeInto, type Sum } from './booking.js'
import { retryKeyWriter } from './retry-key-writer.js'
import { isRefusedValue, reasonOf } from '../store/store-errors.js'

/** How many days hourly usage is kept; daily usage is kept for good. */
export const hourDays = 92

/** A new writer number. */
export function newWriter(db: Sqlite.Database): number {
  const insert = db.prepare('INSERT INTO writers (opened_ms) VALUES (?)')
  return Number(insert.run(Date.now()).lastInsertRowid)
}

/** @returns Up to which number a writer's bookings are in the file; undefined: no such writer. */
export function writtenBy(db: Sqlite.Database, writer: number): number | undefined {
  return db
    .prepare<[number], number>('SELECT written FROM writers WHERE id = ?')
    .pluck()
    .get(writer)
}

/** The outcome of bookings. */
export interface Booked {
  /** The number that was set aside (rule 5). */
  readonly setAside: number
  /** Why the last of them was set aside; empty if none was. */
  readonly reason: string
}

export const noneAside: Booked = { setAside: 0, reason: '' }

/**
 * Writes bookings on one connection, in a transaction of its own.
 *
 * @param first - The number of the first booking.
 * @param written - {@link writtenBy}, read in the same transaction.
 */
export type BookingWriter = (
  bookings: readonly Booking[],
  writer: number,
  first: number,
  written: number,
) => Booked

/**
 * Statements that write bookings, for one connection; call them within a transaction.
 *
 * `write` is for valid bookings. If it throws an error that {@link isRefusedValue} recognises, the
 * transaction must be restarted with `writeCarefully`, which finds the invalid ones.
 */
export function bookingWriter(db: Sqlite.Database) {
  const put = putter(db)
  const note = db.prepare('UPDATE writers SET written = max(written, ?) WHERE id = ?')
  const count = db.prepare('UPDATE tally SET total = total + ?')
  const aside = db.prepare('INSERT INTO set_aside (time_ms, reason, booking) VALUES (?, ?, ?)')
  const savepoint = db.prepare('SAVEPOINT some')
  const release = db.prepare('RELEASE some')
  const rollBack = db.prepare('ROLLBACK TO some')

  const writing =
    (putAll: (some: Numbered) => readonly Refused[]): BookingWriter =>
    (bookings, writer, first, written) => {
      const from = Math.max(0, written + 1 - first)
      const fresh = from === 0 ? bookings : bookings.slice(from)
      const refused = putAll({ bookings: fresh, writer, first: first + from })
      for (const { booking, reason } of refused) aside.run(Date.now(), reason, describe(booking))
      const last = first + bookings.length - 1
      note.run(last, writer)
      if (last > written) count.run(last - written)
      return { setAside: refused.length, reason: refused.at(-1)?.reason ?? '' }
    }

  const putCarefully = (some: Numbered): readonly Refused[] => {
    const { bookings, writer, first } = some
    savepoint.run()
    try {
      return put(some)
    } catch (error) {
      rollBack.run()
      if (!isRefusedValue(error)) throw error
      if (bookings.length === 1) return [{ booking: bookings[0]!, reason: reasonOf(error) }]
      const half = bookings.length >> 1
      return [
        ...putCarefully({ bookings: bookings.slice(0, half), writer, first }),
        ...putCarefully({ bookings: bookings.slice(half), writer, first: first + half }),
      ]
    } finally {
      release.run()
    }
  }

  return { write: writing(put), writeCarefully: writing(putCarefully) }
}

/** Bookings of one writer, with ascending numbers. */
interface Numbered {
  readonly bookings: readonly Booking[]
  readonly writer: number
  readonly first: number
}

/** A booking that cannot be made. */
interface Refused {
  readonly booking: Booking
  readonly reason: string
}

/** Writes rows and sums. @returns The bookings left out. */
function putter(db: Sqlite.Database) {
  const balanceOf = db
    .prepare<[number], number | null>('SELECT balance FROM workspaces WHERE id = ?')
    .pluck()
  const insertRows = rowInserter(db)
  const retryKeys = retryKeyWriter(db)
  const addUsage = addingTo(db, 'usage', ['workspace_id', 'day', 'model'])
  const addKeyUsage = addingTo(db, 'key_usage', ['key_id', 'day', 'model'])
  const addHour = addingTo(db, 'hour_usage', ['hour', 'workspace_id', 'key_id', 'model'])
  const forget = db.prepare<[number]>('DELETE FROM hour_usage WHERE hour < ?')
  let forgotOn: number | undefined
  const charge = db.prepare('UPDATE workspaces SET balance = balance - ? WHERE id = ?')

  return ({ bookings, writer, first }: Numbered): readonly Refused[] => {
    const refused: Refused[] = []
    const limited = new Map<number, boolean>()
    const sums = new Map<string, Sum>()
    const charges = new Map<number, number>()
    const rows: (number | string)[] = []
    for (const [i, booking] of bookings.entries()) {
      const { workspaceId, cost } = booking
      let isLimited = limited.get(workspaceId)
      if (isLimited === undefined) {
        const balance = balanceOf.get(workspaceId)
        // A restored file may not have the workspace.
        if (balance === undefined) {
          refused.push({ booking, reason: `there is no workspace ${workspaceId}` })
          continue
        }
        isLimited = balance !== null
        limited.set(workspaceId, isLimited)
      }
      if (!retryKeys.keep(booking, writer, first + i)) continue
      // An answer made while the balance was unlimited is not charged to a later one.
      const charged = isLimited && booking.charged ? cost : 0
      if (charged !== 0) charges.set(workspaceId, (charges.get(workspaceId) ?? 0) + charged)
      if (isLimited || cost !== 0) {
        rows.push(
          ...[writer, first + i, workspaceId, booking.keyId, booking.timeMs, booking.model],
          ...[booking.requests, booking.inputTokens, booking.outputTokens],
          ...[booking.imageTokens, booking.cachedTokens, cost],
          // Not -0, which SQLite does not take for an integer.
          charged === 0 ? 0 : -charged,
        )
      }
      mergeInto(sums, booking)
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
    return refused
  }
}

const rowColumns = [
  ...['writer', 'number', 'workspace_id', 'key_id', 'time_ms', 'model', 'rows', 'input_tokens'],
  ...['output_tokens', 'image_tokens', 'cached_tokens', 'cost', 'amount'],
]
/** The most rows per statement: 16 take half the time of single-row statements. */
const rowsAtOnce = 16

/** Inserts rows of answers; takes all values in one list. */
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

/** Adds to a row of sums, or inserts it. These tables have the same columns after their keys. */
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

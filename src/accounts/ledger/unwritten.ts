/**
 * Bookings of this process that are not in the file yet, as reports and budgets count them.
 *
 * @module
 */

import type { Booking } from './booking.js'
import type { Connection } from '../store/connection.js'
import type { Ledger } from './ledger.js'

const idsAtOnce = 5000

/** Within a transaction: what is written meanwhile is then counted once. */
export function unwritten(db: Connection, ledger: Ledger): Iterable<Booking> {
  const written = db
    .pluck<[number], number>('SELECT written FROM writers WHERE id = ?')
    .get(ledger.writer)
  return ledger.pending(written ?? 0, (ids) => takenIn(db, ids))
}

/** Those that are in the accounts already. */
function takenIn(db: Connection, ids: readonly string[]): Set<string> {
  const found = new Set<string>()
  for (let at = 0; at < ids.length; at += idsAtOnce) {
    const some = ids.slice(at, at + idsAtOnce)
    const values = some.map(() => '?').join(', ')
    const sql = `SELECT id FROM spools WHERE id IN (${values})`
    for (const id of db.pluck<string[], string>(sql).all(...some)) found.add(id)
  }
  return found
}

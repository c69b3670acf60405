/**
 * Bookings of this process that are not in the file yet, as reports and budgets count them.
 *
 * @module
 */

import type { Booking } from './booking.js'
import type { Connection } from '../store/connection.js'
import type { Ledger } from './ledger.js'

/** Within a transaction: what is written meanwhile is then counted once. */
export function unwritten(db: Connection, ledger: Ledger): Iterable<Booking> {
  const written = db
    .pluck<[number], number>('SELECT written FROM writers WHERE id = ?')
    .get(ledger.writer)
  return ledger.pending(
    written ?? 0,
    (id) => db.pluck<[string], number>('SELECT 1 FROM spools WHERE id = ?').get(id) !== undefined,
  )
}

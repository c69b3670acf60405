import type { Connection } from '../store/connection.js'

/** A new writer number, for rows that no process' ledger writes (write-bookings.ts, rule 3). */
export function takeWriter(db: Connection): number {
  return db
    .pluck<[number], number>('INSERT INTO writers (opened_ms) VALUES (?) RETURNING id')
    .get(Date.now())!
}

/**
 * The usage of a workspace or a key, per model and day.
 *
 * @module
 */

import { addTo, type Booking, dayMs, type Used } from './booking.js'
import type { Connection } from '../store/connection.js'

/** One model on one day. */
export interface DailyUsage extends Used {
  /** UTC, such as `2026-01-31`. */
  readonly day: string
  readonly model: string
}

type Row = { -readonly [Name in keyof Omit<DailyUsage, 'day'>]: DailyUsage[Name] } & { day: number }

/** The columns of sums. */
const usageColumns = `requests, input_tokens AS inputTokens, output_tokens AS outputTokens,
  image_tokens AS imageTokens, cached_tokens AS cachedTokens, cost`

const tables = { workspaceId: 'usage WHERE workspace_id', keyId: 'key_usage WHERE key_id' } as const

/**
 * The usage of a workspace or a key. Within a transaction.
 *
 * @param whose - What the id is of.
 * @param days - The number of days, today included.
 * @param pending - Bookings that are not in the file yet.
 * @returns Newest first, then by model.
 */
export function readUsage(
  db: Connection,
  whose: keyof typeof tables,
  id: number,
  days: number,
  pending: Iterable<Booking>,
): DailyUsage[] {
  const after = Math.floor(Date.now() / dayMs) - days
  const rows = db
    .prepare<[number, number], Row>(
      `SELECT day, model, ${usageColumns} FROM ${tables[whose]} = ? AND day > ?`,
    )
    .all(id, after)
  for (const booking of pending) {
    const day = Math.floor(booking.timeMs / dayMs)
    if (booking[whose] === id && day > after) add(rows, day, booking)
  }
  return rows
    .sort((a, b) => b.day - a.day || (a.model < b.model ? -1 : 1))
    .map((row) => ({ ...row, day: new Date(row.day * dayMs).toISOString().slice(0, 10) }))
}

function add(rows: Row[], day: number, booking: Booking): void {
  const { model, requests, inputTokens, outputTokens, imageTokens, cachedTokens, cost } = booking
  const row = rows.find((row) => row.day === day && row.model === model)
  if (row !== undefined) return addTo(row, booking)
  const tokens = { inputTokens, outputTokens, imageTokens, cachedTokens }
  rows.push({ day, model, requests, ...tokens, cost })
}

/**
 * Usage per hour or day, by workspace, key or model.
 *
 * Days are read from sums that are kept for good, hours from sums that are kept for a while
 * (write-bookings.ts). Bookings that are not in the file yet are added.
 *
 * @module
 */

import { addTo, type Booking, dayMs, hourMs, type Used } from './booking.js'
import type { Connection } from '../store/connection.js'

export interface UsageQuery {
  readonly by: 'workspace' | 'key' | 'model'
  readonly per: 'hour' | 'day'
  /** Milliseconds since 1970; the first hour or day is the one that contains it. */
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  readonly workspaceId?: number | undefined
  readonly keyId?: number | undefined
  readonly model?: string | undefined
}

export interface UsageRow extends Used {
  readonly startMs: number
  /** The id of the workspace or key; undefined by model. */
  readonly id: number | undefined
  /** The model's name; undefined by workspace and key. */
  readonly model: string | undefined
}

type Read = { -readonly [Name in keyof Used]: number } & {
  readonly unit: number
  /** The id or the model's name. */
  readonly of: number | string
}

export const unitMsOf = { hour: hourMs, day: dayMs } as const

/**
 * Within a transaction. Its time grows with the usage: some milliseconds for a day, or four hours,
 * of a thousand keys.
 *
 * @returns Newest first, then by id or model.
 */
export function queryUsage(
  db: Connection,
  query: UsageQuery,
  pending: Iterable<Booking>,
): readonly UsageRow[] {
  const { by, per, fromMs, toMs } = query
  const unitMs = unitMsOf[per]
  const [first, last] = [Math.floor(fromMs / unitMs), Math.ceil(toMs / unitMs) - 1]
  const [sql, parameters] = statementOf(query)
  const found = db.prepare<(number | string)[], Read>(sql).all(first, last, ...parameters)
  const waiting: Read[] = []
  for (const booking of pending) {
    const unit = Math.floor(booking.timeMs / unitMs)
    if (unit < first || unit > last || !fits(booking, query)) continue
    const { requests, inputTokens, outputTokens, imageTokens, cachedTokens, cost } = booking
    const tokens = { inputTokens, outputTokens, imageTokens, cachedTokens }
    waiting.push({ unit, of: booking[groups[by].property], requests, ...tokens, cost })
  }
  const rows = waiting.length === 0 ? found : together([...found, ...waiting])
  return rows.map(({ unit, of, ...sum }) => {
    const [id, model] = typeof of === 'number' ? [of, undefined] : [undefined, of]
    return { startMs: unit * unitMs, id, model, ...sum }
  })
}

/** Merges rows with the same time and the same workspace, key or model. */
function together(rows: readonly Read[]): readonly Read[] {
  const sums = new Map<string, Read>()
  for (const row of rows) {
    const sum = sums.get(`${row.unit} ${row.of}`)
    if (sum === undefined) sums.set(`${row.unit} ${row.of}`, { ...row })
    else addTo(sum, row)
  }
  return [...sums.values()].sort((a, b) => b.unit - a.unit || (a.of < b.of ? -1 : 1))
}

const groups = {
  workspace: { column: 'workspace_id', property: 'workspaceId' },
  key: { column: 'key_id', property: 'keyId' },
  model: { column: 'model', property: 'model' },
} as const

const sumColumns = `SUM(requests) AS requests, SUM(input_tokens) AS inputTokens,
  SUM(output_tokens) AS outputTokens, SUM(image_tokens) AS imageTokens,
  SUM(cached_tokens) AS cachedTokens, SUM(cost) AS cost`

/** Reads the smallest table that has the answer. */
function statementOf(query: UsageQuery): [sql: string, parameters: (number | string)[]] {
  const { by, per, workspaceId, keyId, model } = query
  const table =
    per === 'hour'
      ? 'hour_usage'
      : by === 'key' || keyId !== undefined
        ? 'key_usage JOIN keys ON keys.id = key_id'
        : 'usage'
  const conditions = [`${per} BETWEEN ? AND ?`]
  const parameters: (number | string)[] = []
  for (const [column, value] of [
    ['workspace_id', workspaceId],
    ['key_id', keyId],
    ['model', model],
  ] as const) {
    if (value === undefined) continue
    conditions.push(`${column} = ?`)
    parameters.push(value)
  }
  // Requests without a key.
  if (by === 'key') conditions.push('key_id <> 0')
  const { column } = groups[by]
  const sql = `SELECT ${per} AS unit, ${column} AS "of", ${sumColumns} FROM ${table}
    WHERE ${conditions.join(' AND ')} GROUP BY 1, 2 ORDER BY 1 DESC, 2`
  return [sql, parameters]
}

function fits(booking: Booking, { by, workspaceId, keyId, model }: UsageQuery): boolean {
  if (by === 'key' && booking.keyId === 0) return false
  if (workspaceId !== undefined && booking.workspaceId !== workspaceId) return false
  if (keyId !== undefined && booking.keyId !== keyId) return false
  return model === undefined || booking.model === model
}

/**
 * What was used in each hour or day, by workspace, key or model.
 *
 * Days are read from the sums that are kept for good, hours from those that are kept for a while
 * (write-bookings.ts). What is not in the file yet is added.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { type Booking, dayMs, hourMs } from './booking.js'
import type { Connection } from './connection.js'
import { usageColumns } from './usage.js'

export interface UsageQuery {
  readonly by: 'workspace' | 'key' | 'model'
  readonly per: 'hour' | 'day'
  /** Milliseconds since 1970; the hour or day that it is in is the first. */
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  readonly workspaceId?: number | undefined
  readonly keyId?: number | undefined
  readonly model?: string | undefined
}

/** Sums of tokens, and of costs in millionths of a credit. */
export interface UsageRow {
  readonly startMs: number
  /** Of the workspace or the key; undefined by model. */
  readonly id: number | undefined
  /** Of the model; undefined by workspace and key. */
  readonly model: string | undefined
  readonly requests: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly imageTokens: number
  readonly cachedTokens: number
  readonly cost: number
}

type Sum = { -readonly [Name in keyof UsageRow]: UsageRow[Name] }

interface Read extends Omit<Sum, 'startMs' | 'id' | 'model'> {
  readonly unit: number
  readonly workspaceId: number
  readonly keyId: number
  readonly model: string
}

/** More would be hard on the event loop, and nobody could read it. */
export const mostUsageRows = 50_000

/**
 * Within a transaction.
 *
 * @returns The newest first, then by id or model.
 * @throws {@link OiError} `ERR_ACCOUNTS` if there are more than {@link mostUsageRows}.
 */
export function queryUsage(
  db: Connection,
  query: UsageQuery,
  pending: Iterable<Booking>,
): readonly UsageRow[] {
  const { by, per, fromMs, toMs } = query
  const unitMs = per === 'hour' ? hourMs : dayMs
  const [first, last] = [Math.floor(fromMs / unitMs), Math.ceil(toMs / unitMs) - 1]
  const sums = new Map<string, Sum>()
  const add = (row: Read) => {
    if (!fits(row, query)) return
    const id = by === 'workspace' ? row.workspaceId : by === 'key' ? row.keyId : undefined
    const model = by === 'model' ? row.model : undefined
    const key = `${row.unit} ${id ?? model}`
    let sum = sums.get(key)
    if (sum === undefined) {
      if (sums.size === mostUsageRows) throw tooMany()
      sum = { startMs: row.unit * unitMs, id, model, ...nothing }
      sums.set(key, sum)
    }
    for (const name of sumNames) sum[name] += row[name]
  }
  const rows = db.prepare<[number, number], Read>(sourceOf(query)).iterate(first, last)
  for (const row of rows) add(row)
  for (const { timeMs, ...booking } of pending) {
    const unit = Math.floor(timeMs / unitMs)
    if (unit >= first && unit <= last) add({ ...booking, unit })
  }
  return [...sums.values()].sort(
    (a, b) =>
      b.startMs - a.startMs ||
      (a.id ?? 0) - (b.id ?? 0) ||
      ((a.model ?? '') < (b.model ?? '') ? -1 : 1),
  )
}

const sumNames = [
  ...(['requests', 'inputTokens', 'outputTokens', 'imageTokens', 'cachedTokens', 'cost'] as const),
]
const nothing = Object.fromEntries(sumNames.map((name) => [name, 0])) as Record<
  (typeof sumNames)[number],
  0
>

/** The smallest table that tells what is asked. */
function sourceOf({ by, per, keyId }: UsageQuery): string {
  if (per === 'hour') {
    return `SELECT hour AS unit, workspace_id AS workspaceId, key_id AS keyId, model,
      ${usageColumns} FROM hour_usage WHERE hour BETWEEN ? AND ?`
  }
  if (by === 'key' || keyId !== undefined) {
    return `SELECT day AS unit, workspace_id AS workspaceId, key_id AS keyId, model,
      ${usageColumns} FROM key_usage JOIN keys ON keys.id = key_id WHERE day BETWEEN ? AND ?`
  }
  return `SELECT day AS unit, workspace_id AS workspaceId, 0 AS keyId, model,
    ${usageColumns} FROM usage WHERE day BETWEEN ? AND ?`
}

function fits(row: Read, { by, workspaceId, keyId, model }: UsageQuery): boolean {
  if (by === 'key' && row.keyId === 0) return false
  if (workspaceId !== undefined && row.workspaceId !== workspaceId) return false
  if (keyId !== undefined && row.keyId !== keyId) return false
  return model === undefined || row.model === model
}

function tooMany(): OiError {
  const message = `More than ${mostUsageRows} rows: ask for a shorter time, or for one workspace`
  return new OiError('ERR_ACCOUNTS', message)
}

/**
 * What a workspace has used, per model and day.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import { dayMs } from './ledger.js'

/** Of one model on one day: sums of tokens, and of costs in millionths of a credit. */
export interface DailyUsage {
  /** UTC, as `2026-01-31`. */
  readonly day: string
  readonly model: string
  readonly requests: number
  /** Those of images and those from a cache included. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly imageTokens: number
  readonly cachedTokens: number
  readonly cost: number
}

/** @param days - How many, the one of `nowMs` included. @returns Newest first, then by model. */
export function readUsage(
  db: Sqlite.Database,
  workspaceId: number,
  days: number,
  nowMs = Date.now(),
): DailyUsage[] {
  const today = Math.floor(nowMs / dayMs)
  return db
    .prepare<[number, number], Omit<DailyUsage, 'day'> & { day: number }>(
      `SELECT day, model, requests, input_tokens AS inputTokens, output_tokens AS outputTokens,
              image_tokens AS imageTokens, cached_tokens AS cachedTokens, cost
       FROM usage WHERE workspace_id = ? AND day > ? ORDER BY day DESC, model`,
    )
    .all(workspaceId, today - days)
    .map((row) => ({ ...row, day: new Date(row.day * dayMs).toISOString().slice(0, 10) }))
}

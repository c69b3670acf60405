/**
 * Pages of a workspace's ledger.
 *
 * @module
 */

import type { Connection } from '../store/connection.js'
import type { Used } from './booking.js'

/** The start of a page: after the row with this time, writer and number. */
export interface LedgerPlace {
  readonly timeMs: number
  readonly writer: number
  readonly number: number
}

export interface LedgerPageQuery {
  readonly workspaceId: number
  readonly before?: LedgerPlace | undefined
  /** Rows, at least 1. */
  readonly limit: number
}

/** Amounts and costs are millionths of a credit. */
export interface LedgerRow extends LedgerPlace, Omit<Used, 'requests'> {
  readonly kind: 'usage' | 'credit' | 'unlimited'
  /** Null: no known key. */
  readonly keyId: number | null
  readonly key: string | null
  readonly model: string | null
  /** The number of answers; -1: takes one back. */
  readonly rows: number
  readonly amount: number
}

export interface LedgerPage {
  /** Newest first. */
  readonly rows: readonly LedgerRow[]
  /** Whether there are older rows. */
  readonly more: boolean
}

/** Within a transaction. */
export function ledgerPage(db: Connection, query: LedgerPageQuery): LedgerPage {
  const { workspaceId, before, limit } = query
  const start = before ?? { timeMs: Number.MAX_SAFE_INTEGER, writer: 0, number: 0 }
  const rows = db
    .prepare<number[], LedgerRow>(
      `SELECT writer, number, time_ms AS timeMs, kind, nullif(key_id, 0) AS keyId,
              keys.name AS key, model, rows, input_tokens AS inputTokens,
              output_tokens AS outputTokens, image_tokens AS imageTokens,
              cached_tokens AS cachedTokens, cost, amount
       FROM ledger LEFT JOIN keys ON keys.id = key_id
       WHERE ledger.workspace_id = ? AND (time_ms, writer, number) < (?, ?, ?)
       ORDER BY time_ms DESC, writer DESC, number DESC LIMIT ?`,
    )
    .all(workspaceId, start.timeMs, start.writer, start.number, limit + 1)
  return { rows: rows.slice(0, limit), more: rows.length > limit }
}

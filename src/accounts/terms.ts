/**
 * The terms of a workspace: its limits, its budget, and its balance.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { type Booking, dayMs } from './ledger/booking.js'
import { type Budget, type BudgetState, checkBudget, type Period, periodAt } from './budget.js'
import type { Changes } from './changes.js'
import { type Connection, execute } from './store/connection.js'
import type { Ledger } from './ledger/ledger.js'
import { unwritten } from './ledger/unwritten.js'

/** 0 is unlimited. */
export interface Limits {
  /** In any 60 seconds. */
  readonly requestsPerMinute: number
  /** At the same time. */
  readonly concurrent: number
}

export interface WorkspaceTerms extends Limits {
  /** Whole millionths of a credit, below 0 if requests cost more than was left; null: unlimited. */
  readonly balance: number | null
  /** Null: unlimited. */
  readonly budget: BudgetState | null
}

const maxLimits: Limits = { requestsPerMinute: 1_000_000_000, concurrent: 1_000_000 }

export const termsColumns = `requests_per_minute AS requestsPerMinute, concurrent, balance,
  budget_tokens AS budgetTokens, budget_period AS budgetPeriod`

/** A workspace's row with {@link termsColumns}. */
export interface TermsRow extends Limits {
  readonly id: number
  readonly balance: number | null
  readonly budgetTokens: number | null
  readonly budgetPeriod: Period | null
}

export class Terms {
  readonly #db: Connection
  readonly #changes: Changes
  readonly #ledger: Ledger

  constructor(db: Connection, changes: Changes, ledger: Ledger) {
    this.#db = db
    this.#changes = changes
    this.#ledger = ledger
  }

  /**
   * The current terms, with bookings that are not written yet.
   *
   * @param workspaceId - An existing workspace.
   * @param nowMs - Milliseconds since 1970: selects the budget's period.
   * @throws {@link OiError} `ERR_OVERLOADED` if they cannot be read.
   */
  of(workspaceId: number, nowMs = Date.now()): WorkspaceTerms {
    return this.#db.read(() => {
      const row =
        this.#db
          .prepare<[number], TermsRow>(`SELECT id, ${termsColumns} FROM workspaces WHERE id = ?`)
          .get(workspaceId) ?? missing()
      return this.from(row, nowMs)
    })
  }

  /** As {@link of}, for several workspaces; without those that are gone. */
  ofAll(workspaceIds: readonly number[], nowMs = Date.now()): Map<number, WorkspaceTerms> {
    return this.#db.read(() => {
      const values = workspaceIds.map(() => '?').join(', ')
      const rows = this.#db
        .prepare<number[], TermsRow>(
          `SELECT id, ${termsColumns} FROM workspaces WHERE id IN (${values})`,
        )
        .all(...workspaceIds)
      const waiting = [...unwritten(this.#db, this.#ledger)]
      return new Map(rows.map((row) => [row.id, this.from(row, nowMs, waiting)]))
    })
  }

  /** As {@link of}, from a row read in the same transaction. */
  from(row: TermsRow, nowMs = Date.now(), waiting = this.#waiting(row)): WorkspaceTerms {
    let { balance } = row
    const ours = waiting.filter(({ workspaceId }) => workspaceId === row.id)
    const budget = row.budgetTokens === null ? null : this.#budgetState(row, nowMs, ours)
    if (balance !== null) {
      for (const booking of ours) if (booking.charged) balance -= booking.cost
    }
    const { requestsPerMinute, concurrent } = row
    return { requestsPerMinute, concurrent, balance, budget }
  }

  /**
   * Sets limits from the next request on; what is left out stays as it is.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if a limit is not a whole number from 0 to {@link
   *   maxLimits}.
   */
  setLimits(workspaceId: number, { requestsPerMinute, concurrent }: Partial<Limits>): void {
    checkLimit('requests per minute', requestsPerMinute, maxLimits.requestsPerMinute)
    checkLimit('concurrent requests', concurrent, maxLimits.concurrent)
    const sql = `UPDATE workspaces SET requests_per_minute = coalesce(?, requests_per_minute),
      concurrent = coalesce(?, concurrent) WHERE id = ?`
    execute(this.#db, sql, requestsPerMinute ?? null, concurrent ?? null, workspaceId)
    this.#changes.mark()
  }

  /**
   * Sets the budget from the next request on: usage so far in this period counts.
   *
   * @param budget - Null: unlimited.
   * @throws {@link OiError} `ERR_ACCOUNTS` if it is out of range.
   */
  setBudget(workspaceId: number, budget: Budget | null): void {
    if (budget !== null) checkBudget(budget)
    const sql = 'UPDATE workspaces SET budget_tokens = ?, budget_period = ? WHERE id = ?'
    execute(this.#db, sql, budget?.tokens ?? null, budget?.period ?? null, workspaceId)
    this.#changes.mark()
  }

  /** Within a transaction. */
  #budgetState(
    { id, budgetTokens, budgetPeriod }: TermsRow,
    nowMs: number,
    waiting: readonly Booking[],
  ): BudgetState {
    const { startMs, endMs } = periodAt(budgetPeriod!, nowMs)
    let usedTokens = this.#db
      .pluck<[number, number], number>(
        `SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM usage
         WHERE workspace_id = ? AND day >= ?`,
      )
      .get(id, startMs / dayMs)!
    for (const { timeMs, inputTokens, outputTokens } of waiting) {
      if (timeMs >= startMs) usedTokens += inputTokens + outputTokens
    }
    return { tokens: budgetTokens!, period: budgetPeriod!, usedTokens, startMs, endMs }
  }

  /** Bookings that are not in the accounts yet, if they change these terms. Within a transaction. */
  #waiting({ balance, budgetTokens }: TermsRow): readonly Booking[] {
    if (balance === null && budgetTokens === null) return []
    return [...unwritten(this.#db, this.#ledger)]
  }
}

/** A restored file may not have the workspace. */
function missing(): never {
  throw new OiError('ERR_API_KEY', 'The workspace of the key is gone: send another key')
}

function checkLimit(what: string, value: number | undefined, most: number): void {
  if (value === undefined) return
  if (!Number.isSafeInteger(value) || value < 0 || value > most) {
    throw new OiError('ERR_ACCOUNTS', `${what}: expected 0 (unlimited) to ${most}, got ${value}`)
  }
}

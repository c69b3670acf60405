/**
 * What a workspace may: its limits, and what is left of its balance.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import { OiError } from '../errors.js'
import type { Changes } from './changes.js'
import type { Ledger } from './ledger.js'

/** 0 is unlimited. */
export interface Limits {
  /** In any 60 seconds. */
  readonly requestsPerMinute: number
  /** At the same time. */
  readonly concurrent: number
}

export interface WorkspaceTerms extends Limits {
  /** Whole millionths of a credit, below 0 if requests cost more than there was; null: unlimited. */
  readonly balance: number | null
}

export const maxLimits: Limits = { requestsPerMinute: 1_000_000_000, concurrent: 1_000_000 }

export const termsColumns = 'requests_per_minute AS requestsPerMinute, concurrent, balance'

export class Terms {
  readonly #changes: Changes
  readonly #ledger: Ledger
  readonly #select: Sqlite.Statement<[number], WorkspaceTerms>
  readonly #update: Sqlite.Statement<[number | null, number | null, number]>

  constructor(db: Sqlite.Database, changes: Changes, ledger: Ledger) {
    this.#changes = changes
    this.#ledger = ledger
    this.#select = db.prepare(`SELECT ${termsColumns} FROM workspaces WHERE id = ?`)
    this.#update = db.prepare(
      `UPDATE workspaces SET requests_per_minute = coalesce(?, requests_per_minute),
         concurrent = coalesce(?, concurrent) WHERE id = ?`,
    )
  }

  /** As they are, bookings that are not written yet included. @param workspaceId - One that is. */
  of(workspaceId: number): WorkspaceTerms {
    const terms = this.#select.get(workspaceId)!
    if (terms.balance === null) return terms
    return { ...terms, balance: terms.balance - this.#ledger.pendingCost(workspaceId) }
  }

  /**
   * Sets limits from the next request on; what is left out stays as it is.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if one is not a whole number from 0 to {@link maxLimits}.
   */
  setLimits(workspaceId: number, { requestsPerMinute, concurrent }: Partial<Limits>): void {
    checkLimit('requests per minute', requestsPerMinute, maxLimits.requestsPerMinute)
    checkLimit('concurrent requests', concurrent, maxLimits.concurrent)
    this.#update.run(requestsPerMinute ?? null, concurrent ?? null, workspaceId)
    this.#changes.mark()
  }
}

function checkLimit(what: string, value: number | undefined, most: number): void {
  if (value === undefined) return
  if (!Number.isSafeInteger(value) || value < 0 || value > most) {
    throw new OiError('ERR_ACCOUNTS', `${what}: expected 0 (unlimited) to ${most}, got ${value}`)
  }
}

/**
 * What a workspace may: its limits, and what is left of its balance.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { Changes } from './changes.js'
import type { Connection } from './connection.js'
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
  readonly #db: Connection
  readonly #changes: Changes
  readonly #ledger: Ledger

  constructor(db: Connection, changes: Changes, ledger: Ledger) {
    this.#db = db
    this.#changes = changes
    this.#ledger = ledger
  }

  /**
   * As they are, bookings that are not written yet included.
   *
   * @param workspaceId - One that is.
   * @throws {@link OiError} `ERR_OVERLOADED` if they cannot be read.
   */
  of(workspaceId: number): WorkspaceTerms {
    const { written, ...terms } =
      this.#db.use(() =>
        this.#db
          .prepare<[number, number], WorkspaceTerms & { written: number | null }>(
            `SELECT ${termsColumns}, (SELECT written FROM writers WHERE id = ?) AS written
           FROM workspaces WHERE id = ?`,
          )
          .get(this.#ledger.writer, workspaceId),
      ) ?? missing()
    if (terms.balance === null) return terms
    let balance = terms.balance
    for (const booking of this.#ledger.pending(written ?? 0)) {
      if (booking.charged && booking.workspaceId === workspaceId) balance -= booking.cost
    }
    return { ...terms, balance }
  }

  /**
   * Sets limits from the next request on; what is left out stays as it is.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if one is not a whole number from 0 to {@link maxLimits}.
   */
  setLimits(workspaceId: number, { requestsPerMinute, concurrent }: Partial<Limits>): void {
    checkLimit('requests per minute', requestsPerMinute, maxLimits.requestsPerMinute)
    checkLimit('concurrent requests', concurrent, maxLimits.concurrent)
    this.#db.use(() =>
      this.#db
        .prepare(
          `UPDATE workspaces SET requests_per_minute = coalesce(?, requests_per_minute),
             concurrent = coalesce(?, concurrent) WHERE id = ?`,
        )
        .run(requestsPerMinute ?? null, concurrent ?? null, workspaceId),
    )
    this.#changes.mark()
  }
}

/** A file that was restored may not have it any more. */
function missing(): never {
  throw new OiError('ERR_API_KEY', 'The workspace of the key is gone: send another key')
}

function checkLimit(what: string, value: number | undefined, most: number): void {
  if (value === undefined) return
  if (!Number.isSafeInteger(value) || value < 0 || value > most) {
    throw new OiError('ERR_ACCOUNTS', `${what}: expected 0 (unlimited) to ${most}, got ${value}`)
  }
}

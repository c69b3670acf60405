/**
 * The operator's side of the ledger: giving and taking credits.
 *
 * Its rows keep the ledger's rules (write-bookings.ts): balance and row change in one transaction.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import type { Changes } from '../changes.js'
import type { Connection } from '../store/connection.js'
import { maxAmount } from './money.js'
import { takeWriter } from './take-writer.js'

export class Credits {
  readonly #db: Connection
  readonly #changes: Changes

  constructor(db: Connection, changes: Changes) {
    this.#db = db
    this.#changes = changes
  }

  /**
   * Adds to a workspace's balance, which begins at 0 if it was unlimited.
   *
   * @param amount - Whole millionths of a credit, negative to take back.
   * @returns The new balance.
   * @throws {@link OiError} `ERR_ACCOUNTS` if the amount is 0 or out of range, the new balance
   *   would be out of range, or credits are taken from an unlimited balance.
   */
  add(workspaceId: number, amount: number): number {
    if (!Number.isSafeInteger(amount) || amount === 0 || Math.abs(amount) > maxAmount) {
      throw new OiError('ERR_ACCOUNTS', 'Expected an amount other than 0, below a billion credits')
    }
    return this.#change(workspaceId, 'credit', (balance) => {
      if (balance === null && amount < 0) {
        throw new OiError('ERR_ACCOUNTS', 'The balance is unlimited: nothing can be taken back')
      }
      const next = (balance ?? 0) + amount
      if (Math.abs(next) > maxAmount) {
        throw new OiError('ERR_ACCOUNTS', 'The balance would be a billion credits or more')
      }
      return next
    })
  }

  /** Lifts the limit; the rest of the balance is booked away. Idempotent. */
  makeUnlimited(workspaceId: number): void {
    this.#change(workspaceId, 'unlimited', () => null)
  }

  #change<T extends number | null>(
    workspaceId: number,
    kind: 'credit' | 'unlimited',
    nextOf: (balance: number | null) => T,
  ): T {
    const db = this.#db
    const next = db.write(() => {
      const balance = db
        .pluck<[number], number | null>(
          `SELECT balance FROM workspaces WHERE id = ?${db.forUpdate}`,
        )
        .get(workspaceId) as number | null
      const next = nextOf(balance)
      const now = Date.now()
      const writer = takeWriter(db)
      db.prepare(
        `INSERT INTO ledger (writer, number, kind, workspace_id, time_ms, amount)
         VALUES (?, 1, ?, ?, ?, ?)`,
      ).run(writer, kind, workspaceId, now, (next ?? 0) - (balance ?? 0))
      db.prepare('UPDATE workspaces SET balance = ? WHERE id = ?').run(next, workspaceId)
      return next
    })
    this.#changes.mark()
    return next
  }
}

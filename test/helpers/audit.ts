/**
 * Reads the ledger of a data folder as an auditor would: with SQL of its own, past everything
 * that wrote it.
 */
import Sqlite from 'better-sqlite3'
import { join } from 'node:path'

export interface Audit {
  /** Null: unlimited. */
  readonly balance: number | null
  /** Of the amounts of all rows. */
  readonly sum: number
  /** Rows of answered requests. */
  readonly booked: number
  readonly cost: number
  /** The same two, as the usage per day has them. */
  readonly usedRequests: number
  readonly usedCost: number
}

export function audit(dataDir: string, workspace = 'default'): Audit {
  const db = new Sqlite(join(dataDir, 'accounts.db'))
  try {
    return db
      .prepare<[string], Audit>(
        `WITH chosen AS (SELECT id, balance FROM workspaces WHERE name = ?)
         SELECT balance,
           (SELECT total(amount) FROM ledger WHERE workspace_id = chosen.id) AS sum,
           (SELECT count(*) FROM ledger WHERE workspace_id = chosen.id AND kind = 'usage') AS booked,
           (SELECT total(cost) FROM ledger WHERE workspace_id = chosen.id) AS cost,
           (SELECT total(requests) FROM usage WHERE workspace_id = chosen.id) AS usedRequests,
           (SELECT total(cost) FROM usage WHERE workspace_id = chosen.id) AS usedCost
         FROM chosen`,
      )
      .get(workspace)!
  } finally {
    db.close()
  }
}

/** Rule 1 of the ledger, and that usage per day is what was booked. */
export function isBalanced({ balance, sum, booked, cost, usedRequests, usedCost }: Audit): boolean {
  return (balance ?? 0) === sum && booked === usedRequests && cost === usedCost
}

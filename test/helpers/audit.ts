/**
 * Reads the ledger of a data folder as an auditor would: with its own SQL, independent of the code
 * that wrote it.
 */
import Sqlite from 'better-sqlite3'
import { join } from 'node:path'

export interface Audit {
  /** Null: unlimited. */
  readonly balance: number | null
  /** The sum of all rows. */
  readonly sum: number
  /** Rows of answered requests. */
  readonly booked: number
  readonly cost: number
  /** The same two figures from the usage per day. */
  readonly usedRequests: number
  readonly usedCost: number
}

/** @param workspace - Its name, as SQL. */
export const auditSql = (workspace: string) => `
  WITH chosen AS (SELECT id, balance FROM workspaces WHERE name = ${workspace})
  SELECT balance,
    (SELECT coalesce(sum(amount), 0) FROM ledger WHERE workspace_id = chosen.id) AS sum,
    (SELECT count(*) FROM ledger WHERE workspace_id = chosen.id AND kind = 'usage') AS booked,
    (SELECT coalesce(sum(cost), 0) FROM ledger WHERE workspace_id = chosen.id) AS cost,
    (SELECT coalesce(sum(requests), 0) FROM usage WHERE workspace_id = chosen.id)
      AS "usedRequests",
    (SELECT coalesce(sum(cost), 0) FROM usage WHERE workspace_id = chosen.id) AS "usedCost"
  FROM chosen`

export function audit(dataDir: string, workspace = 'default'): Audit {
  const db = new Sqlite(join(dataDir, 'accounts.db'))
  try {
    return db.prepare<[string], Audit>(auditSql('?')).get(workspace)!
  } finally {
    db.close()
  }
}

/** Rule 1 of the ledger, and usage per day equals the bookings. */
export function isBalanced({ balance, sum, booked, cost, usedRequests, usedCost }: Audit): boolean {
  return (balance ?? 0) === sum && booked === usedRequests && cost === usedCost
}

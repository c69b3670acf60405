/**
 * Checks the accounts: each balance against its ledger rows, and the costs of those against the
 * daily usage.
 *
 * @module
 */

import type { Connection } from '../store/connection.js'

/** Amounts and costs are millionths of a credit. */
export interface Agreement {
  readonly workspace: string
  /** Null: unlimited. */
  readonly balance: number | null
  /** The sum of the rows' amounts. */
  readonly amounts: number
  readonly cost: number
  /** The same by the daily usage. */
  readonly usageCost: number
  /** Answers with rows, and all answers: free answers may have no row. */
  readonly rows: number
  readonly requests: number
}

/** The result of a check. */
export interface Consistency {
  readonly workspaces: readonly Agreement[]
  /** What is wrong, one sentence each; empty if all is well. */
  readonly faults: readonly string[]
  /** Bookings that could not be made (write-bookings.ts); in neither of the above. */
  readonly setAside: number
}

/** In one transaction, so of one moment. */
export function checkConsistency(db: Connection): Consistency {
  return db.read(() => {
    const workspaces = db
      .prepare<[], Agreement>(
        `WITH booked AS (
           SELECT workspace_id, sum(amount) AS amounts, sum(cost) AS cost,
                  sum(CASE WHEN kind = 'usage' THEN rows ELSE 0 END) AS rows
           FROM ledger GROUP BY workspace_id),
         used AS (
           SELECT workspace_id, sum(cost) AS cost, sum(requests) AS requests
           FROM usage GROUP BY workspace_id)
         SELECT name AS workspace, balance, coalesce(amounts, 0) AS amounts,
                coalesce(booked.cost, 0) AS cost, coalesce(used.cost, 0) AS usageCost,
                coalesce(rows, 0) AS rows, coalesce(requests, 0) AS requests
         FROM workspaces LEFT JOIN booked ON booked.workspace_id = id
         LEFT JOIN used ON used.workspace_id = id ORDER BY id`,
      )
      .all()
    return {
      workspaces,
      setAside: db.pluck<[], number>('SELECT count(*) FROM set_aside').get()!,
      faults: [...db.damages(), ...workspaces.flatMap(faultsOf)],
    }
  })
}

function faultsOf(found: Agreement): string[] {
  const { workspace, balance, amounts, cost, usageCost, rows, requests } = found
  const faults: string[] = []
  if ((balance ?? 0) !== amounts) {
    faults.push(`"${workspace}" has a balance of ${balance ?? 'none'}, but rows of ${amounts}`)
  }
  if (cost !== usageCost) {
    faults.push(`"${workspace}" has rows that cost ${cost}, but usage that cost ${usageCost}`)
  }
  if (rows > requests) {
    faults.push(`"${workspace}" has rows of ${rows} answers, but usage of ${requests}`)
  }
  return faults
}

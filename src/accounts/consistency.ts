/**
 * Whether the accounts agree with themselves: each balance with the rows of its ledger, and what
 * those cost with the usage per day.
 *
 * @module
 */

import type { Connection } from './connection.js'

/** Amounts and costs are millionths of a credit. */
export interface Agreement {
  readonly workspace: string
  /** Null: unlimited. */
  readonly balance: number | null
  /** Of the amounts of its rows. */
  readonly amounts: number
  readonly cost: number
  /** The same, as the usage per day has it. */
  readonly usageCost: number
  /** Answers that have rows, and all of them: those that cost nothing may have none. */
  readonly rows: number
  readonly requests: number
}

/** What a check has found. */
export interface Consistency {
  readonly workspaces: readonly Agreement[]
  /** What is wrong, a sentence each; empty if all is well. */
  readonly faults: readonly string[]
  /** Bookings that could not be made (write-bookings.ts), in neither of the above. */
  readonly setAside: number
}

/** In one look at the file, as it is at one moment. */
export function checkConsistency(db: Connection): Consistency {
  return db.read(() => {
    const damages = db.pluck<[], string>('PRAGMA quick_check(10)').all()
    const workspaces = db
      .prepare<[], Agreement>(
        `WITH booked AS (
           SELECT workspace_id, sum(amount) AS amounts, sum(cost) AS cost,
                  sum(iif(kind = 'usage', rows, 0)) AS rows
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
      faults: [
        ...damages.filter((text) => text !== 'ok').map((text) => `The file is damaged: ${text}`),
        ...workspaces.flatMap(faultsOf),
      ],
    }
  })
}

function faultsOf(found: Agreement): string[] {
  const { workspace, balance, amounts, cost, usageCost, rows, requests } = found
  const faults: string[] = []
  if ((balance ?? 0) !== amounts) {
    faults.push(`"${workspace}" has a balance of ${balance ?? 'none'}, and rows of ${amounts}`)
  }
  if (cost !== usageCost) {
    faults.push(`"${workspace}" has rows that cost ${cost}, and usage that cost ${usageCost}`)
  }
  if (rows > requests) {
    faults.push(`"${workspace}" has rows of ${rows} answers, and usage of ${requests}`)
  }
  return faults
}

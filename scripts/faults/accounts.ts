/**
 * Workspaces of a data folder, made and audited from outside: by the command, and with own SQL,
 * independent of the code that wrote them.
 *
 * @module
 */

import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { createWorkspace, oi } from '../oi.js'
import type { Tally } from './tally.js'

/** Enough never to be used up. */
const credits = '100000000'

export interface Workspace {
  readonly name: string
  readonly key: string
  /** Whether its balance is limited, so that every answer is a row of the ledger. */
  readonly charged: boolean
}

/** Makes a workspace without limits of requests. */
export function openWorkspace(dataDir: string, name: string, charged: boolean): Workspace {
  const key = createWorkspace(dataDir, name)
  if (charged) oi(dataDir, 'workspaces', 'credit', name, credits)
  return { name, charged, key }
}

/** One credit per million tokens of any kind: a token costs a millionth. */
export function setPrice(dataDir: string, model: string): void {
  oi(dataDir, 'models', 'price', model, '--input', '1', '--output', '1', '--image', '1')
}

interface Books {
  readonly balance: number | null
  readonly amounts: number
  readonly requests: number
  readonly tokens: number
}

/** Differences between the ledgers of workspaces and what their clients saw. */
export function auditBooks(
  dataDir: string,
  workspaces: readonly Workspace[],
  tally: Tally,
): { lines: string[]; wrong: string[] } {
  const db = new Sqlite(join(dataDir, 'accounts.db'), { readonly: true })
  try {
    const lines: string[] = []
    const wrong: string[] = []
    for (const { name, charged } of workspaces) {
      const books = readBooks(db, name)
      const { received, tokens, unknown, forgiven, forgivenTokens } = tally.of(name)
      lines.push(
        `${name.padEnd(14)} received ${received} (${tokens} tokens), unknown ${unknown}, ` +
          `booked ${books.requests} (${books.tokens} tokens)`,
      )
      if (charged && books.balance !== books.amounts) {
        wrong.push(`${name}: its balance is ${books.balance}, its rows add up to ${books.amounts}`)
      }
      const [least, most] = [received - forgiven, received + unknown]
      if (books.requests < least || books.requests > most) {
        wrong.push(`${name}: ${books.requests} booked, ${least} to ${most} answered`)
      }
      if (books.tokens < tokens - forgivenTokens || (unknown === 0 && books.tokens > tokens)) {
        wrong.push(`${name}: ${books.tokens} tokens booked, ${tokens} answered`)
      }
    }
    return { lines, wrong }
  } finally {
    db.close()
  }
}

function readBooks(db: Sqlite.Database, name: string): Books {
  return db
    .prepare<[string], Books>(
      `WITH chosen AS (SELECT id, balance FROM workspaces WHERE name = ?)
       SELECT balance,
         (SELECT total(amount) FROM ledger WHERE workspace_id = chosen.id) AS amounts,
         (SELECT total(requests) FROM usage WHERE workspace_id = chosen.id) AS requests,
         (SELECT total(input_tokens + output_tokens) FROM usage WHERE workspace_id = chosen.id)
           AS tokens
       FROM chosen`,
    )
    .get(name)!
}

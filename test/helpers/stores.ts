/**
 * The stores that accounts can be in: what holds for one must hold for the other, so the same tests
 * run with both.
 */
import Sqlite from 'better-sqlite3'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Accounts } from '../../src/accounts/accounts.js'
import { type Audit, audit, auditSql } from './audit.js'
import { dataFolder } from './data-folder.js'
import { noPostgres, Postgres } from './postgres.js'

export interface Store {
  readonly dataDir: string
  /** @param busyMs - 0: as a server. Closed with the test. */
  readonly open: (busyMs?: number) => Accounts
  /** The ledger, read with other SQL than the accounts'. */
  readonly audit: (workspace?: string) => Audit
  /** The first column of the rows, as texts. @throws If the store refuses. */
  readonly sql: (text: string) => readonly string[]
}

/** One of a file of tests. */
let server: Promise<Postgres> | undefined
const file = t

function opener(t: Test, options: ConstructorParameters<typeof Accounts>[0]): Store['open'] {
  return (busyMs) => {
    const accounts = new Accounts({ ...options, ...(busyMs !== undefined && { busyMs }) })
    t.teardown(() => accounts.close())
    return accounts
  }
}

function sqlite(t: Test): Store {
  const dataDir = dataFolder(t)
  return {
    dataDir,
    open: opener(t, { dataDir }),
    audit: (workspace) => audit(dataDir, workspace),
    sql: (text) => {
      const db = new Sqlite(join(dataDir, 'accounts.db'))
      try {
        const statement = db.prepare(text)
        if (!statement.reader) return [String(statement.run().changes)]
        return statement.pluck().all().map(String)
      } finally {
        db.close()
      }
    },
  }
}

function postgres(t: Test, server: Postgres): Store {
  const dataDir = dataFolder(t)
  const url = server.database()
  const name = url.split('/').at(-1)!
  const inSchema = (text: string) => server.sql(`SET search_path TO oi; ${text}`, name)
  return {
    dataDir,
    open: opener(t, { dataDir, postgres: { url, graceMs: 60_000 } }),
    audit: (workspace = 'default') =>
      JSON.parse(
        inSchema(`SELECT row_to_json(found) FROM (${auditSql(`'${workspace}'`)}) found`),
      ) as Audit,
    sql: (text) => inSchema(text).split('\n'),
  }
}

/** Runs a test with each store. */
export function onEachStore(name: string, test: (t: Test, store: Store) => unknown): void {
  t.test(name, async (t) => {
    await t.test('SQLite', async (t) => test(t, sqlite(t)))
    await t.test('PostgreSQL', { skip: noPostgres }, async (t) =>
      test(t, postgres(t, await (server ??= Postgres.start(file)))),
    )
  })
}

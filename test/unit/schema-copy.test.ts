/** An older accounts file gets the newer form, and a copy of the older form stays beside it. */
import t, { type Test } from 'tap'
import Sqlite from 'better-sqlite3'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { Accounts } from '../../src/accounts/accounts.js'
import { hashBytes, hashSecret, newSecret } from '../../src/accounts/keys.js'
import { schemaSteps } from '../../src/accounts/store/schema.js'
import { dataFolder } from '../helpers/data-folder.js'

/** A workspace with a ledger and usage, in version 3 of the schema. */
const used = `INSERT INTO workspaces (name, created_ms, balance) VALUES ('default', 1, 90);
  INSERT INTO writers (opened_ms) VALUES (1);
  INSERT INTO ledger (writer, number, workspace_id, time_ms, kind, model, cost, amount)
    VALUES (1, 1, 1, 1, 'credit', NULL, 0, 100), (1, 2, 1, 2, 'usage', 'm', 10, -10);
  INSERT INTO usage VALUES (1, 0, 'm', 1, 5, 2, 0, 0, 10)`

/** A file in an older version of the schema: a workspace and its key. */
function olderFile(t: Test, version = 3, workspace = used) {
  const dataDir = dataFolder(t)
  mkdirSync(dataDir)
  const path = join(dataDir, 'accounts.db')
  const secret = newSecret()
  const db = new Sqlite(path)
  db.pragma('journal_mode = WAL')
  for (const step of schemaSteps.slice(0, version)) db.exec(step)
  db.pragma(`user_version = ${version}`)
  db.exec(workspace)
  db.prepare(
    `INSERT INTO keys (workspace_id, name, hash, last_four, created_ms) VALUES (1, 'k', ?, 'abcd', 1)`,
  ).run(hashBytes(hashSecret(secret)))
  db.close()
  chmodSync(path, 0o600)
  return { dataDir, secret }
}

const copiesIn = (dataDir: string) =>
  readdirSync(dataDir).filter((name) => name.startsWith('accounts-schema-'))

t.test('a copy of the older form is beside it, and an older version can open it', async (t) => {
  const { dataDir, secret } = olderFile(t)
  const log: string[] = []
  const accounts = new Accounts({ dataDir, log: (text) => log.push(text) })
  t.teardown(() => accounts.close())
  t.match(accounts.authenticate(`Bearer ${secret}`), { workspace: 'default' })
  t.match(accounts.workspaces.get('default'), { balance: 90, budget: null })
  t.same(accounts.check().faults, [])
  t.match(accounts.keys.list(), [{ name: 'k', expiresMs: null, blockedMs: null, models: null }])

  const copies = copiesIn(dataDir)
  t.equal(copies.length, 1)
  t.match(copies[0], /^accounts-schema-3-[\dTZ-]+\.db$/)
  const path = join(dataDir, copies[0]!)
  t.match(log, [new RegExp(path)])
  t.equal(statSync(path).mode & 0o777, 0o600)
  const copy = new Sqlite(path, { readonly: true })
  t.teardown(() => copy.close())
  t.equal(copy.pragma('user_version', { simple: true }), 3)
  t.equal(copy.prepare('SELECT sum(amount) FROM ledger').pluck().get(), 90)
  t.equal(copy.prepare('SELECT count(*) FROM keys').pluck().get(), 1)

  new Accounts({ dataDir }).close()
  t.equal(copiesIn(dataDir).length, 1, 'the next opening finds nothing to do')
})

t.test('a file of the first version has the standard limits', async (t) => {
  const workspace = "INSERT INTO workspaces (name, created_ms) VALUES ('default', 1)"
  const { dataDir, secret } = olderFile(t, 1, workspace)
  const accounts = new Accounts({ dataDir })
  t.teardown(() => accounts.close())
  const { workspaceId } = accounts.authenticate(`Bearer ${secret}`)
  const standard = { requestsPerMinute: 6000, concurrent: 256, balance: null }
  t.match(accounts.terms.of(workspaceId), standard)
})

t.test('a new folder has no copy', async (t) => {
  const dataDir = dataFolder(t)
  new Accounts({ dataDir }).close()
  t.strictSame(copiesIn(dataDir), [])
})

t.test('if no copy can be made, nothing is changed', async (t) => {
  const { dataDir } = olderFile(t)
  const before = readFileSync(join(dataDir, 'accounts.db'))
  // A damaged page of the ledger: copying reads it, opening does not.
  const path = join(dataDir, 'accounts.db')
  const db = new Sqlite(path)
  const page = db
    .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'ledger'")
    .pluck()
    .get() as number
  db.close()
  const file = openSync(path, 'r+')
  const root = 4096 * (page - 1)
  writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, root)
  closeSync(file)
  t.throws(() => new Accounts({ dataDir }), { code: 'ERR_ACCOUNTS', message: /Cannot copy/ })
  t.strictSame(copiesIn(dataDir), [])
  const after = readFileSync(path)
  t.ok(after.subarray(0, root).equals(before.subarray(0, root)))
})

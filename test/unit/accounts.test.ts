import t, { type Test } from 'tap'
import Sqlite from 'better-sqlite3'
import { execFile } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { Accounts } from '../../src/accounts/accounts.js'
import { dataFolder } from '../helpers/data-folder.js'
import { onEachStore } from '../helpers/stores.js'
import { until } from '../helpers/until.js'

function open(t: Test, dataDir = dataFolder(t)) {
  const accounts = new Accounts({ dataDir })
  t.teardown(() => accounts.close())
  return { accounts, dataDir }
}

onEachStore(
  'a key is oi- and 43 base64url characters, and lets its workspace in',
  async (t, store) => {
    const accounts = store.open()
    accounts.workspaces.create('shop')
    const key = accounts.createKey('shop', 'web')
    t.match(key.secret, /^oi-[A-Za-z0-9_-]{43}$/)
    t.equal(key.lastFour, key.secret.slice(-4))
    t.match(accounts.authenticate(`Bearer ${key.secret}`), { workspace: 'shop', keyId: key.id })
    t.match(accounts.authenticate(`bearer ${key.secret}`), { workspace: 'shop' })
  },
)

t.test('no file holds a secret', async (t) => {
  const { accounts, dataDir } = open(t)
  const { secret } = accounts.createFirstKey()!
  accounts.close()
  t.notOk(readFileSync(join(dataDir, 'accounts.db')).includes(secret.slice(3, 30)))
})

t.test('folder and files are for their owner only', async (t) => {
  const { accounts, dataDir } = open(t)
  accounts.createFirstKey()
  t.equal(statSync(dataDir).mode & 0o777, 0o700)
  for (const suffix of ['', '-wal', '-shm']) {
    t.equal(statSync(join(dataDir, `accounts.db${suffix}`)).mode & 0o777, 0o600, suffix)
  }
})

t.test('a key of another length or alphabet is refused, with the remedy', async (t) => {
  const { accounts } = open(t)
  for (const key of ['', 'a'.repeat(42), 'a'.repeat(44), `${'a'.repeat(42)}+`]) {
    t.throws(() => accounts.authenticate(`Bearer oi-${key}`), {
      code: 'ERR_API_KEY',
      message: /send Authorization: Bearer <key>$/,
    })
  }
})

onEachStore('a key that another process revoked is refused at once', async (t, store) => {
  const accounts = store.open()
  const elsewhere = store.open()
  const { id, secret } = accounts.createFirstKey()!
  accounts.authenticate(`Bearer ${secret}`)
  const first = elsewhere.keys.revoke(id)
  t.throws(() => accounts.authenticate(`Bearer ${secret}`), { code: 'ERR_API_KEY' })
  t.equal(elsewhere.keys.revoke(id).revokedMs, first.revokedMs)
})

onEachStore('a refused key works once another process has made it', async (t, store) => {
  const accounts = store.open()
  const elsewhere = store.open()
  const { secret: other } = accounts.createFirstKey()!
  accounts.authenticate(`Bearer ${other}`)
  const { secret } = elsewhere.createKey('default', 'second')
  t.equal(accounts.authenticate(`Bearer ${secret}`).workspace, 'default')
})

onEachStore('uses are written within about a second, and at close', async (t, store) => {
  const accounts = store.open()
  const reader = store.open()
  const { secret } = accounts.createFirstKey()!
  accounts.authenticate(`Bearer ${secret}`)
  t.equal(reader.keys.list()[0]!.usedMs, null)
  const startMs = performance.now()
  await until(() => reader.keys.list()[0]!.usedMs !== null)
  const tookMs = performance.now() - startMs
  t.ok(tookMs < 10_000, `${tookMs} ms`)
  const { usedMs } = reader.keys.list()[0]!
  await sleep(5)
  accounts.authenticate(`Bearer ${secret}`)
  accounts.close()
  t.ok(reader.keys.list()[0]!.usedMs! > usedMs!)
})

t.test('processes that start together on an empty folder agree on one first key', async (t) => {
  const dataDir = join(t.testdir(), 'data')
  const module = new URL('../../src/accounts/accounts.js', import.meta.url)
  const script = `
    const { Accounts } = await import(${JSON.stringify(module.href)})
    const accounts = new Accounts({ dataDir: ${JSON.stringify(dataDir)} })
    const made = accounts.createFirstKey() !== undefined
    accounts.createKey('default', 'own')
    accounts.close()
    console.log(made)`
  const run = promisify(execFile)
  const outputs = await Promise.all(
    Array.from({ length: 4 }, () => run(process.execPath, ['--input-type=module', '-e', script])),
  )
  t.equal(outputs.filter(({ stdout }) => stdout === 'true\n').length, 1)
  t.equal(open(t, dataDir).accounts.keys.list().length, 5)
})

onEachStore('names: taken, unknown, unfit', async (t, store) => {
  const accounts = store.open()
  accounts.workspaces.create('a')
  t.throws(() => accounts.workspaces.create('a'), { code: 'ERR_CONFLICT', message: /already/ })
  t.throws(() => accounts.createKey('b', 'k'), { message: /oi workspaces create b/ })
  t.throws(() => accounts.workspaces.create(''), { code: 'ERR_ACCOUNTS' })
  t.throws(() => accounts.createKey('a', 'line\nbreak'), { code: 'ERR_ACCOUNTS' })
  t.throws(() => accounts.keys.revoke(99), { code: 'ERR_NOT_FOUND', message: /no key 99/ })
})

onEachStore('keys are listed per workspace, without secrets', async (t, store) => {
  const accounts = store.open()
  const { id } = accounts.workspaces.create('a')
  accounts.workspaces.create('b')
  const { secret } = accounts.createKey('a', 'one')
  accounts.createKey('b', 'two')
  t.match(accounts.keys.list(id), [{ name: 'one', workspace: 'a' }])
  t.equal(accounts.keys.list().length, 2)
  t.notOk(JSON.stringify(accounts.keys.list()).includes(secret))
})

t.test('a file of a newer version is left alone', async (t) => {
  const { accounts, dataDir } = open(t)
  accounts.close()
  const db = new Sqlite(join(dataDir, 'accounts.db'))
  db.pragma('user_version = 99')
  db.close()
  t.throws(() => new Accounts({ dataDir }), { code: 'ERR_ACCOUNTS', message: /newer version/ })
})

t.test('a file that is not a database is an error with its path', async (t) => {
  const dataDir = t.testdir()
  writeFileSync(
    join(dataDir, 'accounts.db'),
    'something else, and long enough to be read'.repeat(9),
  )
  t.throws(() => new Accounts({ dataDir }), { code: 'ERR_ACCOUNTS', message: /accounts\.db/ })
})

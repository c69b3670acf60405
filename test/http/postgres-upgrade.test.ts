/** Nodes on one PostgreSQL that are replaced one by one, start together, or have a wrong clock. */
import t from 'tap'
import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Accounts } from '../../src/accounts/accounts.js'
import { isBalanced } from '../helpers/audit.js'
import { oi } from '../helpers/command.js'
import { dataFolder } from '../helpers/data-folder.js'
import { Fleet } from '../helpers/fleet.js'
import { noPostgres, Postgres } from '../helpers/postgres.js'
import { until } from '../helpers/until.js'

const options = { skip: noPostgres, timeout: 180_000 }

t.test('two versions serve at once while the accounts become newer', options, async (t) => {
  const fleet = await Fleet.start(t, 2)
  const end = fleet.load(6)
  await sleep(500)
  // What a step of a newer version does, beside whose nodes these still run.
  fleet.postgres.sql(
    `SET search_path TO oi; BEGIN; ALTER TABLE workspaces ADD COLUMN region TEXT;
     ALTER TABLE ledger ADD COLUMN note TEXT DEFAULT 'none';
     INSERT INTO schema VALUES (2, 1); COMMIT`,
    fleet.database,
  )
  await sleep(300)
  for (const node of fleet.nodes) {
    node.server.child.kill('SIGTERM')
    t.equal(await node.server.exited, 0)
    await node.restart()
    await sleep(300)
  }
  await end()
  const audit = fleet.audit()
  t.comment(JSON.stringify({ seen: Object.fromEntries(fleet.seen), booked: audit.booked }))
  t.strictSame(
    [...fleet.seen.keys()].filter((name) => name !== '200' && name !== '503' && name !== 'lost'),
    [],
  )
  t.ok(fleet.count(200) > 100)
  t.equal(audit.booked, fleet.count(200), 'nothing lost, nothing twice')
  t.ok(isBalanced(audit))

  fleet.postgres.sql('INSERT INTO oi.schema VALUES (3, 3)', fleet.database)
  const late = () =>
    new Accounts({
      dataDir: dataFolder(t),
      postgres: { url: fleet.postgres.address(fleet.database), graceMs: 0 },
    })
  t.throws(late, { code: 'ERR_ACCOUNTS', message: /newer version of oi .*update oi/ })
})

t.test(
  'nodes that start at once on an empty database agree on one first key',
  options,
  async (t) => {
    const postgres = await Postgres.start(t)
    const url = postgres.database()
    const module = new URL('../../src/accounts/accounts.js', import.meta.url)
    const script = (dataDir: string) => `
    const { Accounts } = await import(${JSON.stringify(module.href)})
    const postgres = { url: ${JSON.stringify(url)}, graceMs: 0 }
    const accounts = new Accounts({ dataDir: ${JSON.stringify(dataDir)}, postgres })
    const made = accounts.createFirstKey() !== undefined
    accounts.createKey('default', 'own')
    accounts.close()
    console.log(made)`
    const run = promisify(execFile)
    const outputs = await Promise.all(
      Array.from({ length: 4 }, () =>
        run(process.execPath, ['--input-type=module', '-e', script(dataFolder(t))]),
      ),
    )
    t.equal(outputs.filter(({ stdout }) => stdout === 'true\n').length, 1)
    t.equal(postgres.sql('SELECT count(*) FROM oi.keys', url.split('/').at(-1)), '5')
  },
)

const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
const faketime = `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`

t.test(
  'a node whose clock jumps books, and refuses what is revoked',
  { ...options, skip: noPostgres || (!existsSync(faketime) && 'libfaketime is not installed') },
  async (t) => {
    const fleet = await Fleet.start(t, 1)
    const clock = join(t.testdir(), 'clock')
    writeFileSync(clock, '+0\n')
    const wrong = await fleet.add({
      environment: {
        ...{ LD_PRELOAD: faketime, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: '1' },
        ...{ FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' },
      },
    })
    const right = fleet.nodes[0]!
    const repeated = async (key: string) => {
      for (const node of [wrong, right, wrong]) {
        t.equal(await fleet.ask(node, fleet.secret, key), 200)
      }
    }
    await repeated('before')
    for (const seconds of ['+90000', '-90000', '+3700']) {
      writeFileSync(clock, `${seconds}\n`)
      const key = fleet.accounts.createKey('default', `at ${seconds}`)
      for (const node of fleet.nodes) t.equal(await fleet.ask(node, key.secret), 200)
      await repeated(`at ${seconds}`)
      fleet.accounts.keys.revoke(key.id)
      const revokedMs = performance.now()
      for (const node of fleet.nodes) {
        await until(async () => (await fleet.ask(node, key.secret)) === 401)
      }
      t.ok(performance.now() - revokedMs < 1500)
    }
    // Two with each key that was made, and one for each key of a retry.
    await until(() => fleet.audit().booked >= 10)
    t.equal(fleet.audit().booked >= 10 && isBalanced(fleet.audit()), true)
    t.equal(fleet.count(503), 0)
  },
)

t.test(
  'commands and servers share the accounts, and the password is shown nowhere',
  options,
  async (t) => {
    const postgres = await Postgres.start(t)
    const url = postgres.database().replace('oi@', 'oi:secret-of-mine@')
    const environment = { OI_ACCOUNTS: url, OI_DATA_DIR: dataFolder(t) }
    const run = (...args: string[]) => oi(args, environment)
    t.match(await run('workspaces', 'create', 'shop'), { code: 0 })
    const made = await run('keys', 'create', '--workspace', 'shop')
    t.match(made.stdout, /oi-[\w-]{43}/)
    t.match(await run('workspaces', 'credit', 'shop', '5'), { code: 0 })
    t.match((await run('workspaces', 'list')).stdout, /shop/)
    t.match(await run('accounts', 'check'), { code: 0 })
    const settings = await run('settings')
    t.match(settings.stdout, /accounts/)
    t.notMatch(settings.stdout, /secret-of-mine/)
    t.match(await run('admin', 'backup'), { code: 2, stderr: /pg_dump/ })
    const elsewhere = dataFolder(t)
    t.match(await run('accounts', 'copy', elsewhere), { code: 0, stdout: /ledger +1/ })
    const copy = new Accounts({ dataDir: elsewhere })
    t.teardown(() => copy.close())
    t.match(copy.workspaces.get('shop'), { balance: 5_000_000 })
    const wrong = await oi(['keys', 'list'], {
      ...environment,
      OI_ACCOUNTS: postgres.address('nothing'),
    })
    t.match(wrong, { code: 1, stderr: /no such database/ })
    const gone = await oi(['keys', 'list'], {
      ...environment,
      OI_ACCOUNTS: postgres.address('x', 1),
    })
    t.match(gone, { code: 1, stderr: /PostgreSQL cannot be reached/ })
    t.notMatch(gone.stderr + wrong.stderr, /secret-of-mine/)
  },
)

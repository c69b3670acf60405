/** The accounts' file over time: its log, bookings kept for the next start, closed rows. */
import t, { type Test } from 'tap'
import Sqlite from 'better-sqlite3'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Accounts } from '../../src/accounts/accounts.js'
import { reasonOf } from '../../src/accounts/store/store-errors.js'
import { audit, isBalanced } from '../helpers/audit.js'
import { bookingOf } from '../helpers/booking.js'
import { dataFolder, setVariable } from '../helpers/data-folder.js'
import { noDisk, smallDisk } from '../helpers/small-disk.js'
import { storeFaults } from '../helpers/store-faults.js'
import { until } from '../helpers/until.js'

const dayMs = 86_400_000

function open(t: Test, dataDir = dataFolder(t)) {
  const log: string[] = []
  const accounts = new Accounts({ dataDir, busyMs: 0, log: (text) => log.push(text) })
  t.teardown(() => accounts.close())
  if (accounts.workspaces.list().length === 0) accounts.workspaces.create('default')
  return { accounts, dataDir, id: accounts.workspaces.get('default').id, log }
}

/** A folder for kept bookings, instead of the user's own. */
function stateFolder(t: Test): string {
  const folder = t.testdir()
  setVariable(t, 'XDG_STATE_HOME', folder)
  return join(folder, 'oi')
}

t.test('a long reader keeps the log long; afterwards it shrinks without a restart', async (t) => {
  const { accounts, dataDir, id } = open(t)
  accounts.credits.add(id, 1_000_000_000)
  const wal = () => statSync(join(dataDir, 'accounts.db-wal')).size
  const reader = new Sqlite(join(dataDir, 'accounts.db'))
  reader.exec('BEGIN; SELECT count(*) FROM workspaces')
  const begunMs = performance.now()
  let booked = 0
  // A busy machine takes long for it.
  while (performance.now() - begunMs < 60_000 && wal() < 12 * 1024 * 1024) {
    for (let i = 0; i < 49; i++) void accounts.ledger.book(bookingOf(id, 1), true)
    await accounts.ledger.book(bookingOf(id, 1), true)
    booked += 50
  }
  t.ok(wal() > 8 * 1024 * 1024, `${wal()} bytes after ${booked} bookings`)
  reader.exec('COMMIT')
  reader.close()
  await until(() => wal() <= 8 * 1024 * 1024)
  t.match(audit(dataDir), { booked, balance: 1_000_000_000 - booked })
})

// A log that fills the disk could not be folded into the file any more, which has to grow for that.
t.test(
  'beside a long reader, the log leaves the room that the file needs',
  { skip: noDisk },
  async (t) => {
    const { accounts, dataDir, id } = open(t, join(smallDisk(t, 24 * 2 ** 20), 'data'))
    accounts.credits.add(id, 1_000_000_000)
    const reader = new Sqlite(join(dataDir, 'accounts.db'))
    reader.exec('BEGIN; SELECT count(*) FROM workspaces')
    const begunMs = performance.now()
    let booked = 0
    let refused: unknown
    const room = /open for long.*no room/
    const hasRoom = () => !room.test(accounts.ledger.health.trouble ?? '')
    while (hasRoom() && performance.now() - begunMs < 20_000) {
      const all = Array.from({ length: 200 }, () => accounts.ledger.book(bookingOf(id, 1), true)!)
      for (const outcome of await Promise.allSettled(all)) {
        if (outcome.status === 'fulfilled') booked++
        else refused = outcome.reason
      }
    }
    t.match(refused, { code: 'ERR_OVERLOADED' })
    t.match(accounts.ledger.health.trouble, room)
    t.ok(statSync(join(dataDir, 'accounts.db-wal')).size < 16 * 2 ** 20)

    reader.exec('COMMIT')
    reader.close()
    await until(() => accounts.ledger.health.trouble === undefined)
    await accounts.ledger.book(bookingOf(id, 1), true)
    t.match(audit(dataDir), { booked: booked + 1, balance: 1_000_000_000 - booked - 1 })
  },
)

t.test('without a reader the log stays short', async (t) => {
  const { accounts, dataDir, id } = open(t)
  let most = 0
  for (let i = 0; i < 2000; i++) {
    // On a busy machine one may take longer than a second, and is refused.
    await accounts.ledger.book(bookingOf(id, 1), true)?.catch(() => {})
    if (i % 50 === 0) most = Math.max(most, statSync(join(dataDir, 'accounts.db-wal')).size)
  }
  t.ok(most < 9 * 1024 * 1024, `${most} bytes`)
})

t.test(
  'bookings that a full disk refuses at the end are taken in by the next start, once',
  { skip: noDisk },
  async (t) => {
    const disk = smallDisk(t)
    const folder = stateFolder(t)
    const { accounts, dataDir, id, log } = open(t, join(disk, 'data'))
    accounts.credits.add(id, 1000)
    const fault = storeFaults.find(({ name }) => name === 'the disk is full')!
    const end = await fault.begin(dataDir)
    const refused = accounts.ledger.book(bookingOf(id, 7), true)!
    for (let i = 0; i < 500; i++)
      void accounts.ledger.book({ ...bookingOf(id, 0), keyId: i }, false)
    for (let i = 0; i < 500; i++) void accounts.ledger.book(bookingOf(id, 1), false)
    accounts.close()
    await t.rejects(refused, { code: 'ERR_OVERLOADED' })
    const [name] = readdirSync(folder)
    const path = join(folder, name!)
    t.match(log.at(-1), new RegExp(`usage of 1000 answers.*${path}`))
    t.equal(statSync(path).mode & 0o777, 0o600)
    end()

    const kept = readFileSync(path)
    const next = open(t, dataDir)
    next.accounts.ledger.start()
    await until(() => next.log.length > 0)
    t.match(next.log, [/usage of 1000 answers has been taken in/])
    t.notOk(existsSync(path))
    t.match(audit(dataDir), { booked: 1000 - 500 + 500, usedRequests: 1000, balance: 500 })
    next.accounts.close()

    // As if the process had ended before it was removed.
    writeFileSync(path, kept)
    const again = open(t, dataDir)
    again.accounts.ledger.start()
    await until(() => again.log.length > 0)
    t.match(again.log, [/usage of 0 answers/])
    t.match(audit(dataDir), { usedRequests: 1000, balance: 500 })
    t.same(again.accounts.check().faults, [])
  },
)

t.test('old rows are exported and closed; balances, usage and the rules stay', async (t) => {
  const { accounts, dataDir, id } = open(t)
  const today = Math.floor(Date.now() / dayMs) * dayMs
  accounts.credits.add(id, 1_000_000)
  for (let i = 0; i < 12_000; i++) {
    void accounts.ledger.book({ ...bookingOf(id, 2), timeMs: today - (i % 4) * dayMs }, false)
  }
  // The writer's thread may take long to start on a busy machine.
  t.ok(accounts.ledger.flush(60_000))
  const before = audit(dataDir)
  t.ok(isBalanced(before))
  const usage = accounts.usage('default')
  const path = join(dataDir, 'rows.jsonl')
  t.match(accounts.compact(today - dayMs, path), { rows: 6000, closings: 1 })
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  t.equal(lines.length, 6000)
  t.match(JSON.parse(lines[0]!), { kind: 'usage', workspace_id: id, cost: 2, amount: -2 })
  t.match(audit(dataDir), { balance: before.balance, sum: before.sum, cost: before.cost })
  t.equal(audit(dataDir).booked, 6001)
  t.strictSame(accounts.usage('default'), usage)
  t.same(accounts.check().faults, [])
  t.match(accounts.check().workspaces, [{ workspace: 'default', rows: 12_000, requests: 12_000 }])
  const db = new Sqlite(join(dataDir, 'accounts.db'))
  t.teardown(() => db.close())
  t.throws(() => db.exec('DELETE FROM ledger'), { message: /never deleted/ })
  t.throws(() => accounts.compact(today, path), {
    code: 'ERR_ACCOUNTS',
    message: /exists already/,
  })
  // A later run closes the closing row too, and the rows left before its day.
  t.match(accounts.compact(today + 1, join(dataDir, 'more.jsonl'), true), { rows: 6001 })
  t.same(accounts.check().faults, [])
})

t.test('a check finds rows that do not agree', async (t) => {
  const { accounts, dataDir, id } = open(t)
  accounts.credits.add(id, 1000)
  await accounts.ledger.book(bookingOf(id, 5), true)
  t.same(accounts.check().faults, [])
  const db = new Sqlite(join(dataDir, 'accounts.db'))
  t.teardown(() => db.close())
  db.exec('UPDATE workspaces SET balance = 990; UPDATE usage SET cost = 6, requests = 0')
  t.match(accounts.check().faults, [/balance of 990.* 995/, /cost 5.* cost 6/, /1 answers.* 0/])
})

t.test('errors of SQLite name the fault of the place', async (t) => {
  for (const [code, said] of [
    ['SQLITE_IOERR_SHMMAP', /needs a local disk/],
    ['SQLITE_IOERR_LOCK', /needs a local disk/],
    ['SQLITE_FULL', /disk is full/],
    ['SQLITE_IOERR_READ', /the disk fails/],
    ['SQLITE_BUSY_SNAPSHOT', /locked/],
  ] as const) {
    t.match(reasonOf(new Sqlite.SqliteError('disk I/O error', code)), said)
  }
})

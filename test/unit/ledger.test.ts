import t, { type Test } from 'tap'
import Sqlite from 'better-sqlite3'
import { join } from 'node:path'
import { Accounts } from '../../src/accounts/accounts.js'
import { audit, isBalanced } from '../helpers/audit.js'
import { bookingOf } from '../helpers/booking.js'
import { dataFolder } from '../helpers/data-folder.js'
import { createRandom } from '../helpers/random.js'
import { until } from '../helpers/until.js'

function open(t: Test) {
  const dataDir = dataFolder(t)
  const accounts = new Accounts({ dataDir, busyMs: 0 })
  t.teardown(() => accounts.close())
  const { id } = accounts.createWorkspace('default')
  return { accounts, dataDir, id }
}

t.test('a caller that waits for a booking finds it in the file', async (t) => {
  const { accounts, dataDir, id } = open(t)
  accounts.credits.add(id, 1000)
  const booked = accounts.ledger.book(bookingOf(id, 30), true)
  t.equal(audit(dataDir).booked, 0)
  t.equal(accounts.terms.of(id).balance, 970, 'what is not written yet counts')
  await booked
  t.match(audit(dataDir), { booked: 1, balance: 970, sum: 970 })
  t.equal(accounts.terms.of(id).balance, 970)
})

t.test('bookings of one turn of the event loop are one group', async (t) => {
  const { accounts, dataDir, id } = open(t)
  const first = accounts.ledger.book(bookingOf(id, 1), true)
  accounts.ledger.book(bookingOf(id, 1), false)
  const last = accounts.ledger.book(bookingOf(id, 1), true)
  await Promise.all([first, last])
  t.equal(audit(dataDir).booked, 3)
})

t.test('a booking without a waiting caller is written by itself, and at close', async (t) => {
  const { accounts, dataDir, id } = open(t)
  t.equal(accounts.ledger.book(bookingOf(id, 1), false), undefined)
  await until(() => audit(dataDir).booked > 0)
  accounts.ledger.book(bookingOf(id, 1), false)
  accounts.close()
  t.equal(audit(dataDir).booked, 2)
  t.equal(accounts.ledger.book(bookingOf(id, 1), true), undefined, 'closed: nothing to wait for')
})

t.test('a balance is the sum of its rows, after any operations in any order', async (t) => {
  const { accounts, dataDir, id } = open(t)
  const elsewhere = new Accounts({ dataDir })
  t.teardown(() => elsewhere.close())
  accounts.createWorkspace('other')
  const random = createRandom(3)
  for (let i = 0; i < 300; i++) {
    const { credits, ledger } = random.pick([accounts, elsewhere])
    const action = random.integer(20)
    if (action === 0) credits.makeUnlimited(id)
    else if (action < 3) credits.add(id, 1 + random.integer(1e6))
    else if (action < 5) ledger.flush()
    else ledger.book(bookingOf(id, random.integer(1e5), random.pick(['a', 'b'])), false)
    if (i % 10 === 0) {
      // Another thread writes; it pauses while this test looks.
      accounts.ledger.flush()
      elsewhere.ledger.flush()
      t.ok(isBalanced(audit(dataDir)), `after ${i + 1} steps`)
    }
  }
  accounts.close()
  elsewhere.close()
  const end = audit(dataDir)
  t.ok(isBalanced(end))
  t.ok(end.booked > 150)
  t.match(audit(dataDir, 'other'), { balance: null, sum: 0, booked: 0, usedRequests: 0 })
})

t.test('usage during an unlimited balance is not charged later', async (t) => {
  const { accounts, dataDir, id } = open(t)
  await accounts.ledger.book(bookingOf(id, 400), true)
  void accounts.ledger.book({ ...bookingOf(id, 100), charged: false }, false)
  t.equal(accounts.credits.add(id, 1000), 1000)
  t.equal(accounts.terms.of(id).balance, 1000, 'what is not written yet neither')
  t.ok(accounts.ledger.flush())
  await accounts.ledger.book(bookingOf(id, 1), true)
  t.match(audit(dataDir), { balance: 999, sum: 999, cost: 501 })
  accounts.credits.makeUnlimited(id)
  accounts.credits.makeUnlimited(id)
  t.match(audit(dataDir), { balance: null, sum: 0 })
  t.equal(accounts.credits.add(id, 5), 5)
})

t.test('memory does not grow with the number of bookings', async (t) => {
  const { accounts, id } = open(t)
  const book = (count: number) => {
    for (let i = 1; i <= count; i++) {
      void accounts.ledger.book(bookingOf(id, 1), false)
      if (i % 100 === 0) accounts.ledger.flush()
    }
  }
  const outsideOfHeap = () => {
    const { rss, heapTotal } = process.memoryUsage()
    return rss - heapTotal
  }
  // The heap of the writer's thread settles later than this one's.
  book(150_000)
  const before = outsideOfHeap()
  book(300_000)
  const grown = outsideOfHeap() - before
  // Their rows are 9 MB.
  t.ok(grown < 6e6, `grown by ${grown} bytes`)
})

t.test('close writes all waiting bookings', async (t) => {
  const { accounts, dataDir, id } = open(t)
  for (let i = 0; i < 100; i++) void accounts.ledger.book(bookingOf(id, i % 2), i % 3 === 0)
  accounts.close()
  t.match(audit(dataDir), { booked: 50, cost: 50, usedRequests: 100 })
})

t.test('a free answer has no row, only its day, key and model', async (t) => {
  const { accounts, dataDir, id } = open(t)
  for (const keyId of [1, 2, 1]) {
    void accounts.ledger.book({ ...bookingOf(id, 0), keyId }, false)
  }
  await accounts.ledger.book(bookingOf(id, 3), true)
  t.ok(accounts.ledger.flush())
  t.match(audit(dataDir), { booked: 1, usedRequests: 4, cost: 3, usedCost: 3 })
  const db = new Sqlite(join(dataDir, 'accounts.db'))
  t.teardown(() => db.close())
  t.strictSame(db.prepare('SELECT key_id, requests FROM key_usage ORDER BY key_id').raw().all(), [
    [1, 2],
    [2, 1],
  ])
  accounts.credits.add(id, 10)
  await accounts.ledger.book(bookingOf(id, 0), true)
  t.match(audit(dataDir), { booked: 2 }, 'where there is a balance, it has one')
})

t.test('while too many bookings wait, the ledger says so', async (t) => {
  const { accounts, id } = open(t)
  for (let i = 0; i < 49_999; i++) accounts.ledger.book(bookingOf(id, 0), false)
  t.notOk(accounts.ledger.full)
  accounts.ledger.book(bookingOf(id, 0), false)
  t.ok(accounts.ledger.full)
  accounts.ledger.flush()
  t.notOk(accounts.ledger.full)
})

t.test('no row of the ledger can be changed or deleted', async (t) => {
  const { accounts, dataDir, id } = open(t)
  await accounts.ledger.book(bookingOf(id, 1), true)
  const db = new Sqlite(join(dataDir, 'accounts.db'))
  t.teardown(() => db.close())
  t.throws(() => db.exec('UPDATE ledger SET cost = 0'), { message: /never changed/ })
  t.throws(() => db.exec('DELETE FROM ledger'), { message: /never deleted/ })
  t.throws(() => db.exec('INSERT INTO ledger SELECT * FROM ledger'), { message: /UNIQUE/ })
  t.equal(audit(dataDir).booked, 1)
})

t.test('credits: out of range, or too many to take back', async (t) => {
  const { accounts, dataDir, id } = open(t)
  const { credits } = accounts
  for (const amount of [0, 0.5, NaN, Infinity, 1e15, -1e15]) {
    t.throws(() => credits.add(id, amount), { code: 'ERR_ACCOUNTS' }, String(amount))
  }
  t.throws(() => credits.add(id, -1), { code: 'ERR_ACCOUNTS', message: /unlimited/ })
  t.equal(credits.add(id, 999_999_999_999_999), 999_999_999_999_999)
  t.throws(() => credits.add(id, 1), { code: 'ERR_ACCOUNTS', message: /billion/ })
  t.equal(credits.add(id, -999_999_999_999_999), 0)
  t.equal(credits.add(id, -5), -5, 'a balance may be taken below 0')
  t.ok(isBalanced(audit(dataDir)))
})

t.test('usage is kept per model and day, UTC', async (t) => {
  const { accounts, id } = open(t)
  const now = Date.now()
  const dayMs = 86_400_000
  const book = (daysAgo: number, model: string) =>
    accounts.ledger.book({ ...bookingOf(id, 5, model), timeMs: now - daysAgo * dayMs }, false)
  for (const [daysAgo, model] of [
    [1, 'b'],
    [0, 'b'],
    [0, 'a'],
    [0, 'b'],
    [31, 'a'],
    [30, 'a'],
  ] as const) {
    book(daysAgo, model)
  }
  const { usage, workspace } = accounts.usage('default')
  t.equal(workspace.name, 'default')
  const day = (daysAgo: number) => new Date(now - daysAgo * dayMs).toISOString().slice(0, 10)
  const one = { inputTokens: 10, outputTokens: 2, imageTokens: 0, cachedTokens: 4, cost: 5 }
  t.strictSame(usage, [
    { day: day(0), model: 'a', requests: 1, ...one },
    {
      ...{ day: day(0), model: 'b', requests: 2 },
      ...{ inputTokens: 20, outputTokens: 4, imageTokens: 0, cachedTokens: 8, cost: 10 },
    },
    { day: day(1), model: 'b', requests: 1, ...one },
    { day: day(30), model: 'a', requests: 1, ...one },
  ])
})

t.test('by the hour, usage older than 92 days is deleted; by the day it is kept', async (t) => {
  const { accounts, dataDir, id } = open(t)
  const elsewhere = new Accounts({ dataDir })
  t.teardown(() => elsewhere.close())
  const oldMs = Date.now() - 95 * 86_400_000
  const rowsOf = (per: 'hour' | 'day') => {
    const query = { by: 'workspace' as const, per, fromMs: oldMs, toMs: oldMs + 1 }
    return accounts.usageOver({ ...query, workspaceId: id }).length
  }
  void accounts.ledger.book({ ...bookingOf(id, 1), timeMs: oldMs }, false)
  t.equal(rowsOf('hour'), 1, 'what is not written yet is there')
  await until(() => accounts.ledger.flush())
  void elsewhere.ledger.book({ ...bookingOf(id, 1), timeMs: Date.now() }, false)
  await until(() => elsewhere.ledger.flush())
  t.equal(rowsOf('hour'), 0)
  t.equal(rowsOf('day'), 1)
})

import t, { type Test } from 'tap'
import Sqlite from 'better-sqlite3'
import { join } from 'node:path'
import { Accounts } from '../../src/accounts/accounts.js'
import { openDatabase } from '../../src/accounts/database.js'
import { type Booking, Ledger } from '../../src/accounts/ledger.js'
import { audit, isBalanced } from '../helpers/audit.js'
import { createRandom } from '../helpers/random.js'

const bookingOf = (workspaceId: number, cost: number, model = 'm'): Booking => ({
  workspaceId,
  model,
  timeMs: Date.UTC(2026, 0, 31, 12),
  inputTokens: 10,
  outputTokens: 2,
  imageTokens: 0,
  cachedTokens: 4,
  cost,
})

function open(t: Test, busyMs = 5000) {
  const dataDir = join(t.testdir(), 'data')
  const accounts = new Accounts({ dataDir, busyMs })
  t.teardown(() => accounts.close())
  const { id } = accounts.createWorkspace('default')
  return { accounts, dataDir, id }
}

t.test('whoever waits for a booking finds it in the file', async (t) => {
  const { accounts, dataDir, id } = open(t)
  accounts.credits.add(id, 1000)
  const booked = accounts.ledger.book(bookingOf(id, 30), true)
  t.equal(audit(dataDir).booked, 0)
  t.equal(accounts.ledger.pendingCost(id), 30)
  t.equal(accounts.terms.of(id).balance, 970, 'what is not written yet counts')
  await booked
  t.match(audit(dataDir), { booked: 1, balance: 970, sum: 970 })
  t.equal(accounts.ledger.pendingCost(id), 0)
})

t.test('bookings of one turn of the event loop are one group', async (t) => {
  const { accounts, dataDir, id } = open(t)
  const first = accounts.ledger.book(bookingOf(id, 1), true)
  accounts.ledger.book(bookingOf(id, 1), false)
  const last = accounts.ledger.book(bookingOf(id, 1), true)
  t.equal(first, last)
  await first
  t.equal(audit(dataDir).booked, 3)
})

t.test('a booking for which nobody waits is written by itself, and at close', async (t) => {
  const { accounts, dataDir, id } = open(t)
  t.equal(accounts.ledger.book(bookingOf(id, 1), false), undefined)
  while (audit(dataDir).booked === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  accounts.ledger.book(bookingOf(id, 1), false)
  accounts.close()
  t.equal(audit(dataDir).booked, 2)
  t.equal(accounts.ledger.book(bookingOf(id, 1), true), undefined, 'closed: nothing to wait for')
})

t.test('a balance is the sum of its rows, whatever was done in which order', async (t) => {
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
    if (i % 10 === 0) t.ok(isBalanced(audit(dataDir)), `after ${i + 1} steps`)
  }
  accounts.close()
  elsewhere.close()
  const end = audit(dataDir)
  t.ok(isBalanced(end))
  t.ok(end.booked > 150)
  t.match(audit(dataDir, 'other'), { balance: null, sum: 0, booked: 0, usedRequests: 0 })
})

t.test('what was used while the balance was unlimited is not charged later', async (t) => {
  const { accounts, dataDir, id } = open(t)
  await accounts.ledger.book(bookingOf(id, 500), true)
  t.equal(accounts.credits.add(id, 1000), 1000)
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
  book(50_000)
  const before = outsideOfHeap()
  book(300_000)
  const grown = outsideOfHeap() - before
  // Their rows are 9 MB.
  t.ok(grown < 6e6, `grown by ${grown} bytes`)
})

t.test('a group that was written without anyone knowing is not written twice', async (t) => {
  const { accounts, dataDir, id } = open(t)
  accounts.credits.add(id, 1000)
  const db = openDatabase(dataDir, 1000)
  t.teardown(() => db.close())
  let unlucky = 0
  const failing = new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (name !== 'transaction') return typeof value === 'function' ? value.bind(target) : value
      return (write: (...args: unknown[]) => void) => ({
        immediate: (...args: unknown[]) => {
          target.transaction(write).immediate(...args)
          if (unlucky-- > 0) throw new Error('disk I/O error')
        },
      })
    },
  })
  const ledger = new Ledger(failing)
  ledger.book(bookingOf(id, 10), false)
  t.ok(ledger.flush())
  unlucky = 1
  ledger.book(bookingOf(id, 20), false)
  ledger.book(bookingOf(id, 30), false)
  t.notOk(ledger.flush())
  ledger.book(bookingOf(id, 40), false)
  t.ok(ledger.flush())
  t.match(audit(dataDir), { booked: 4, cost: 100, balance: 900 })
  t.ok(isBalanced(audit(dataDir)))
})

t.test('while the file is busy, bookings stay and are written once it is not', async (t) => {
  const { accounts, dataDir, id } = open(t, 5)
  accounts.credits.add(id, 1000)
  const blocker = new Sqlite(join(dataDir, 'accounts.db'))
  blocker.exec('BEGIN IMMEDIATE')
  let committed = false
  const booked = accounts.ledger.book(bookingOf(id, 7), true)!.then(() => (committed = true))
  t.notOk(accounts.ledger.flush())
  const later = accounts.ledger.book(bookingOf(id, 7), true)
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.notOk(committed)
  t.equal(accounts.terms.of(id).balance, 986)
  blocker.exec('ROLLBACK')
  blocker.close()
  await Promise.all([booked, later])
  t.match(audit(dataDir), { booked: 2, balance: 986 })
  t.ok(isBalanced(audit(dataDir)))
})

t.test('what cannot be written at close is an error that counts it', async (t) => {
  const { accounts, dataDir, id } = open(t, 1)
  const blocker = new Sqlite(join(dataDir, 'accounts.db'))
  blocker.exec('BEGIN IMMEDIATE')
  accounts.ledger.book(bookingOf(id, 1), false)
  t.throws(() => accounts.close(), { code: 'ERR_ACCOUNTS', message: /usage of 1 requests/ })
  blocker.close()
  accounts.close()
})

t.test('while too much waits to be written, it says so', async (t) => {
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

t.test('credits: what is out of range, or cannot be taken back', async (t) => {
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

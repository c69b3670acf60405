import { isBalanced } from '../helpers/audit.js'
import { bookingOf } from '../helpers/booking.js'
import { createRandom } from '../helpers/random.js'
import { onEachStore, type Store } from '../helpers/stores.js'
import { until } from '../helpers/until.js'

function open({ open }: Store) {
  const accounts = open(0)
  const { id } = accounts.workspaces.create('default')
  return { accounts, id }
}

onEachStore('a caller that waits for a booking finds it in the file', async (t, store) => {
  const { accounts, id } = open(store)
  accounts.credits.add(id, 1000)
  const booked = accounts.ledger.book(bookingOf(id, 30), true)
  t.equal(store.audit().booked, 0)
  t.equal(accounts.terms.of(id).balance, 970, 'what is not written yet counts')
  await booked
  t.match(store.audit(), { booked: 1, balance: 970, sum: 970 })
  t.equal(accounts.terms.of(id).balance, 970)
})

onEachStore(
  'a booking without a waiting caller is written by itself, and at close',
  async (t, store) => {
    const { accounts, id } = open(store)
    t.equal(accounts.ledger.book(bookingOf(id, 1), false), undefined)
    await until(() => store.audit().booked > 0)
    accounts.ledger.book(bookingOf(id, 1), false)
    accounts.close()
    t.equal(store.audit().booked, 2)
    t.equal(accounts.ledger.book(bookingOf(id, 1), true), undefined, 'closed: nothing to wait for')
  },
)

onEachStore(
  'a balance is the sum of its rows, after any operations in any order',
  async (t, store) => {
    const { accounts, id } = open(store)
    const elsewhere = store.open()
    accounts.workspaces.create('other')
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
        t.ok(isBalanced(store.audit()), `after ${i + 1} steps`)
      }
    }
    accounts.close()
    elsewhere.close()
    const end = store.audit()
    t.ok(isBalanced(end))
    t.ok(end.booked > 150)
    t.match(store.audit('other'), { balance: null, sum: 0, booked: 0, usedRequests: 0 })
  },
)

onEachStore('usage during an unlimited balance is not charged later', async (t, store) => {
  const { accounts, id } = open(store)
  await accounts.ledger.book(bookingOf(id, 400), true)
  void accounts.ledger.book({ ...bookingOf(id, 100), charged: false }, false)
  t.equal(accounts.credits.add(id, 1000), 1000)
  t.equal(accounts.terms.of(id).balance, 1000, 'what is not written yet neither')
  t.ok(accounts.ledger.flush())
  await accounts.ledger.book(bookingOf(id, 1), true)
  t.match(store.audit(), { balance: 999, sum: 999, cost: 501 })
  accounts.credits.makeUnlimited(id)
  accounts.credits.makeUnlimited(id)
  t.match(store.audit(), { balance: null, sum: 0 })
  t.equal(accounts.credits.add(id, 5), 5)
})

onEachStore('memory does not grow with the number of bookings', async (t, store) => {
  const { accounts, id } = open(store)
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

onEachStore('a free answer has no row, only its day, key and model', async (t, store) => {
  const { accounts, id } = open(store)
  for (const keyId of [1, 2, 1]) {
    void accounts.ledger.book({ ...bookingOf(id, 0), keyId }, false)
  }
  await accounts.ledger.book(bookingOf(id, 3), true)
  t.ok(accounts.ledger.flush())
  t.match(store.audit(), { booked: 1, usedRequests: 4, cost: 3, usedCost: 3 })
  t.strictSame(store.sql("SELECT key_id || ':' || requests FROM key_usage ORDER BY key_id"), [
    ...['1:2', '2:1'],
  ])
  accounts.credits.add(id, 10)
  await accounts.ledger.book(bookingOf(id, 0), true)
  t.match(store.audit(), { booked: 2 }, 'where there is a balance, it has one')
})

onEachStore('while too many bookings wait, the ledger says so', async (t, store) => {
  const { accounts, id } = open(store)
  for (let i = 0; i < 49_999; i++) accounts.ledger.book(bookingOf(id, 0), false)
  t.notOk(accounts.ledger.full)
  accounts.ledger.book(bookingOf(id, 0), false)
  t.ok(accounts.ledger.full)
  accounts.ledger.flush()
  t.notOk(accounts.ledger.full)
})

onEachStore('no row of the ledger can be changed or deleted', async (t, store) => {
  const { accounts, id } = open(store)
  await accounts.ledger.book(bookingOf(id, 1), true)
  t.throws(() => store.sql('UPDATE ledger SET cost = 0'), { message: /never changed/ })
  t.throws(() => store.sql('DELETE FROM ledger'), { message: /never .*deleted/ })
  t.throws(() => store.sql('INSERT INTO ledger SELECT * FROM ledger'), { message: /unique/i })
  t.equal(store.audit().booked, 1)
})

onEachStore('credits: out of range, or too many to take back', async (t, store) => {
  const { accounts, id } = open(store)
  const { credits } = accounts
  for (const amount of [0, 0.5, NaN, Infinity, 1e15, -1e15]) {
    t.throws(() => credits.add(id, amount), { code: 'ERR_ACCOUNTS' }, String(amount))
  }
  t.throws(() => credits.add(id, -1), { code: 'ERR_ACCOUNTS', message: /unlimited/ })
  t.equal(credits.add(id, 999_999_999_999_999), 999_999_999_999_999)
  t.throws(() => credits.add(id, 1), { code: 'ERR_ACCOUNTS', message: /billion/ })
  t.equal(credits.add(id, -999_999_999_999_999), 0)
  t.equal(credits.add(id, -5), -5, 'a balance may be taken below 0')
  t.ok(isBalanced(store.audit()))
})

onEachStore('usage is kept per model and day, UTC', async (t, store) => {
  const { accounts, id } = open(store)
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

onEachStore(
  'by the hour, usage older than 92 days is deleted; by the day it is kept',
  async (t, store) => {
    const { accounts, id } = open(store)
    const elsewhere = store.open()
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
    await until(() => rowsOf('hour') === 0)
    t.equal(rowsOf('day'), 1)
  },
)

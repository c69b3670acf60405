import { bookingOf } from '../helpers/booking.js'
import { onEachStore } from '../helpers/stores.js'

onEachStore(
  'a new workspace has 6,000 requests per minute, 256 at once, an unlimited balance',
  async (t, store) => {
    const accounts = store.open()
    const { id } = accounts.workspaces.create('a')
    const unlimited = { balance: null, budget: null }
    t.strictSame(accounts.terms.of(id), { requestsPerMinute: 6000, concurrent: 256, ...unlimited })
  },
)

onEachStore('limits are set one by one, within bounds', async (t, store) => {
  const accounts = store.open()
  const { id } = accounts.workspaces.create('a')
  const { count } = accounts.changes
  accounts.terms.setLimits(id, { requestsPerMinute: 0 })
  accounts.terms.setLimits(id, { concurrent: 3 })
  t.match(accounts.workspaces.list(), [{ requestsPerMinute: 0, concurrent: 3, balance: null }])
  t.ok(accounts.changes.count > count)
  for (const wrong of [
    { concurrent: -1 },
    { concurrent: 1.5 },
    { concurrent: 1_000_001 },
    { requestsPerMinute: 1_000_000_001 },
    { requestsPerMinute: NaN },
  ]) {
    t.throws(() => accounts.terms.setLimits(id, wrong), { code: 'ERR_ACCOUNTS' })
  }
  t.match(accounts.terms.of(id), { requestsPerMinute: 0, concurrent: 3 })
})

onEachStore(
  'prices: no price is free, parts are set one by one, within bounds',
  async (t, store) => {
    const accounts = store.open()
    const { prices } = accounts
    t.strictSame(prices.of('m'), { input: 0, output: 0, image: 0 })
    prices.set('m', { input: 3 })
    prices.set('m', { image: 4 })
    prices.refresh()
    t.match(prices.of('m'), { input: 3, output: 0, image: 4 })
    t.strictSame(prices.list(), [{ model: 'm', input: 3, output: 0, image: 4 }])
    for (const wrong of [-1, 0.5, 1e12 + 1, NaN]) {
      t.throws(() => prices.set('m', { output: wrong }), {
        code: 'ERR_ACCOUNTS',
        message: /output/,
      })
    }
    t.throws(() => prices.set('', {}), { code: 'ERR_ACCOUNTS' })
  },
)

onEachStore('changes by another process are seen with the next key lookup', async (t, store) => {
  const accounts = store.open()
  const { secret } = accounts.createFirstKey()!
  const { workspaceId } = accounts.authenticate(`Bearer ${secret}`)
  const elsewhere = store.open()
  accounts.prices.refresh()
  elsewhere.prices.set('m', { input: 9 })
  const { count } = accounts.changes
  accounts.authenticate(`Bearer ${secret}`)
  t.ok(accounts.changes.count > count)
  accounts.prices.refresh()
  t.equal(accounts.prices.of('m').input, 9)
  elsewhere.credits.add(workspaceId, 5)
  t.equal(accounts.terms.of(workspaceId).balance, 5)
})

onEachStore('own bookings are not changes: keys and prices stay in memory', async (t, store) => {
  const accounts = store.open()
  const { secret } = accounts.createFirstKey()!
  const { workspaceId } = accounts.authenticate(`Bearer ${secret}`)
  const { count } = accounts.changes
  await accounts.ledger.book(bookingOf(workspaceId, 1), true)
  accounts.authenticate(`Bearer ${secret}`)
  t.equal(accounts.changes.count, count)
})

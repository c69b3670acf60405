import type { Limits } from '../../src/accounts/terms.js'
import { WorkspaceGate } from '../../src/http/access/workspace-gate.js'
import { onEachStore, type Store } from '../helpers/stores.js'
import { decision } from '../helpers/stub.js'

function open(store: Store, limits: Partial<Limits>) {
  const accounts = store.open()
  const { secret } = accounts.createFirstKey()!
  const caller = accounts.authenticate(`Bearer ${secret}`)
  accounts.terms.setLimits(caller.workspaceId, limits)
  const clock = { nowMs: 0 }
  const gate = new WorkspaceGate({ accounts, now: () => clock.nowMs })
  return { accounts, caller, clock, gate }
}

onEachStore('several requests are admitted together or not at all', async (t, store) => {
  const { caller, clock, gate } = open(store, { requestsPerMinute: 10 })
  gate.take(caller, 7)
  clock.nowMs = 1000
  t.throws(() => gate.take(caller, 4), { code: 'ERR_RATE_LIMIT', retryAfterMs: 59_000 })
  gate.take(caller, 3)
  t.throws(() => gate.take(caller, 1), { code: 'ERR_RATE_LIMIT', retryAfterMs: 59_000 })
  clock.nowMs = 60_000
  gate.take(caller, 7)
})

onEachStore(
  'more requests at once than a minute ever allows are refused, in parts they are not',
  async (t, store) => {
    const { caller, gate } = open(store, { requestsPerMinute: 10 })
    t.throws(() => gate.take(caller, 11), { code: 'ERR_RATE_LIMIT', retryAfterMs: 60_000 })
    gate.take(caller, 10)
  },
)

onEachStore('a reply waits for its booking only if there is a balance', async (t, store) => {
  const { accounts, caller, gate } = open(store, {})
  gate.enter(caller, {})
  gate.take(caller, 1)
  t.equal(gate.book(caller, decision), undefined)
  accounts.credits.add(caller.workspaceId, 1)
  gate.take(caller, 1)
  t.ok(gate.book(caller, decision) instanceof Promise)
  gate.leave(caller)
})

onEachStore('the price of an answer is that of its model at the last request', async (t, store) => {
  const { accounts, caller, gate } = open(store, {})
  accounts.credits.add(caller.workspaceId, 1000)
  accounts.prices.set('stub', { input: 1_000_000 })
  gate.take(caller, 1)
  gate.book(caller, decision)
  gate.book(caller, { ...decision, model: 'free' })
  t.equal(accounts.terms.of(caller.workspaceId).balance, 1000 - 12)
})

onEachStore('while bookings cannot be written, no request is admitted', async (t, store) => {
  const { accounts, caller, gate } = open(store, {})
  gate.take(caller, 1)
  for (let i = 0; i < 50_000; i++) gate.book(caller, decision)
  t.throws(() => gate.take(caller, 1), { code: 'ERR_OVERLOADED' })
  accounts.ledger.flush()
  gate.take(caller, 1)
})

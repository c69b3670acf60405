import type { Limits } from '../../src/accounts/terms.js'
import { WorkspaceAdmission } from '../../src/http/access/workspace-admission.js'
import { onEachStore, type Store } from '../helpers/stores.js'
import { decision } from '../helpers/stub.js'

function open(store: Store, limits: Partial<Limits>) {
  const accounts = store.open()
  const { secret } = accounts.createFirstKey()!
  const caller = accounts.authenticate(`Bearer ${secret}`)
  accounts.terms.setLimits(caller.workspaceId, limits)
  const clock = { nowMs: 0 }
  const admission = new WorkspaceAdmission({ accounts, now: () => clock.nowMs })
  return { accounts, caller, clock, admission }
}

onEachStore('several requests are admitted together or not at all', async (t, store) => {
  const { caller, clock, admission } = open(store, { requestsPerMinute: 10 })
  admission.take(caller, 7)
  clock.nowMs = 1000
  t.throws(() => admission.take(caller, 4), { code: 'ERR_RATE_LIMIT', retryAfterMs: 59_000 })
  admission.take(caller, 3)
  t.throws(() => admission.take(caller, 1), { code: 'ERR_RATE_LIMIT', retryAfterMs: 59_000 })
  clock.nowMs = 60_000
  admission.take(caller, 7)
})

onEachStore(
  'more requests at once than a minute ever allows are refused, in parts they are not',
  async (t, store) => {
    const { caller, admission } = open(store, { requestsPerMinute: 10 })
    t.throws(() => admission.take(caller, 11), { code: 'ERR_RATE_LIMIT', retryAfterMs: 60_000 })
    admission.take(caller, 10)
  },
)

onEachStore('a reply waits for its booking only if there is a balance', async (t, store) => {
  const { accounts, caller, admission } = open(store, {})
  admission.enter(caller, {})
  admission.take(caller, 1)
  t.equal(admission.book(caller, decision), undefined)
  accounts.credits.add(caller.workspaceId, 1)
  admission.take(caller, 1)
  t.ok(admission.book(caller, decision) instanceof Promise)
  admission.leave(caller)
})

onEachStore('the price of an answer is that of its model at the last request', async (t, store) => {
  const { accounts, caller, admission } = open(store, {})
  accounts.credits.add(caller.workspaceId, 1000)
  accounts.prices.set('stub', { input: 1_000_000 })
  admission.take(caller, 1)
  admission.book(caller, decision)
  admission.book(caller, { ...decision, model: 'free' })
  t.equal(accounts.terms.of(caller.workspaceId).balance, 1000 - 12)
})

onEachStore('while bookings cannot be written, no request is admitted', async (t, store) => {
  const { accounts, caller, admission } = open(store, {})
  admission.take(caller, 1)
  for (let i = 0; i < 50_000; i++) admission.book(caller, decision)
  t.throws(() => admission.take(caller, 1), { code: 'ERR_OVERLOADED' })
  accounts.ledger.flush()
  admission.take(caller, 1)
})

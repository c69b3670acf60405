/** The last hour in memory: differences of counters, bounded. */
import t from 'tap'
import { noStats } from '../../src/engine/stats.js'
import { History, mostSlots, stepMs } from '../../src/http/metrics/history.js'
import { quantileOf } from '../../src/http/metrics/quantile.js'
import { boundsMs, Traffic } from '../../src/http/metrics/traffic.js'

const bounds = [...boundsMs, Infinity]

/** A history with counters that the test moves, and its own clock. */
function fixture() {
  const traffic = new Traffic(['/v1/systemone', '/v1/systemone/batch', '/v1/decisions', '/healthz'])
  const state = { ms: 0, waiting: 0, engines: [{ model: 'a', stats: noStats() }] }
  const history = new History({
    traffic,
    waiting: () => state.waiting,
    engines: () => state.engines,
    now: () => state.ms,
  })
  const step = () => {
    state.ms += stepMs
    history.record()
    return history.slots().at(-1)!
  }
  return { traffic, state, history, step }
}

t.test('a slot has what was counted since the slot before', async (t) => {
  const { traffic, step } = fixture()
  traffic.count('/v1/systemone', 200)
  traffic.count('/v1/systemone', 429)
  traffic.countRefusal('rate_limit_exceeded')
  traffic.count('/v1/decisions', 200)
  // Not decisions, or counted by their items.
  traffic.count('/healthz', 200)
  traffic.count('/v1/systemone/batch', 200)
  traffic.count('/v1/systemone/batch', 422)
  for (const status of [200, 200, 503]) traffic.countItem(status)
  const first = step()
  t.strictSame(Object.fromEntries(first.statuses), { 200: 4, 422: 1, 429: 1, 503: 1 })
  t.strictSame([...first.codes], [['rate_limit_exceeded', 1]])
  t.equal(first.seconds, 10)
  traffic.count('/v1/systemone', 200)
  t.strictSame([...step().statuses], [[200, 1]])
  t.strictSame([...step().statuses], [])
})

t.test('a model works for its share of the time, replicas together', async (t) => {
  const { state, step } = fixture()
  const stats = (busyMs: number, more = {}) => ({ ...noStats(), busyMs, ...more })
  state.engines = [{ model: 'a', stats: stats(2500, { queuedRequests: 3, deviceHits: 1 }) }]
  state.waiting = 2
  const first = step()
  t.strictSame(first.models.get('a'), { busy: 0.25, queued: 3 })
  t.strictSame([first.hits, first.lookups, first.waiting], [1, 1, 5])
  state.engines = [
    { model: 'a', stats: stats(7500, { deviceHits: 1, missed: 1 }) },
    { model: 'a', stats: stats(10_000) },
  ]
  const second = step()
  t.equal(second.models.get('a')!.busy, 0.75)
  t.strictSame([second.hits, second.lookups], [0, 1])
})

t.test('a counter that began anew counts from nothing', async (t) => {
  const { state, step } = fixture()
  state.engines = [{ model: 'a', stats: { ...noStats(), busyMs: 9000, missed: 40 } }]
  step()
  state.engines = [{ model: 'a', stats: { ...noStats(), busyMs: 1000, missed: 2 } }]
  const slot = step()
  t.equal(slot.models.get('a')!.busy, 0.1)
  t.equal(slot.lookups, 2)
})

t.test('an hour is kept, and the busiest 32 of many models', async (t) => {
  const { history, state, step, traffic } = fixture()
  state.engines = Array.from({ length: 100 }, (_, i) => ({ model: `m${i}`, stats: noStats() }))
  step()
  state.engines = state.engines.map(({ model, stats }, i) => {
    return { model, stats: { ...stats, busyMs: i } }
  })
  const slot = step()
  t.equal(slot.models.size, 32)
  t.ok(slot.models.has('m99') && !slot.models.has('m0'))
  for (let i = 0; i < 2 * mostSlots; i++) {
    if (i === 500) traffic.count('/v1/systemone', 200)
    step()
  }
  const slots = history.slots()
  t.equal(slots.length, mostSlots)
  const firstUsed = slots.findIndex(({ statuses }) => statuses.size > 0)
  t.equal(firstUsed, 500 - mostSlots)
})

t.test('the slot that has begun is shown once it is a second long', async (t) => {
  const { history, state, traffic } = fixture()
  traffic.count('/v1/systemone', 200)
  state.ms = 900
  t.equal(history.slots().length, 0)
  state.ms = 2000
  const [slot] = history.slots()
  t.strictSame([slot!.seconds, [...slot!.statuses]], [2, [[200, 1]]])
  t.equal(history.slots().length, 1, 'reading ends nothing')
})

t.test('quantiles are those of histogram_quantile', async (t) => {
  const counts = (of: Record<number, number>) => bounds.map((bound) => of[bound] ?? 0)
  t.equal(quantileOf(0.5, bounds, counts({})), undefined)
  // promql: histogram_quantile(0.5, …) of 10 in (25, 50] is 37.5.
  t.equal(quantileOf(0.5, bounds, counts({ 50: 10 })), 37.5)
  t.equal(quantileOf(0.95, bounds, counts({ 50: 50, 100: 40, 500: 10 })), 250 + 250 * 0.5)
  t.equal(quantileOf(0.5, bounds, counts({ 1: 4 })), 0.5)
  t.equal(quantileOf(0.95, bounds, counts({ 1: 1, Infinity: 9 })), 60_000, 'the largest bound')
})

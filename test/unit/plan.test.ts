import t from 'tap'
import { type Load, type Node, nodesFor, simulate } from '../../scripts/plan/simulate.js'

const load: Load = {
  ...{ requests: 100, questions: 2, questionTokens: 50, stateTokens: 400, states: 1000, skew: 0 },
  bound: 1.5,
}
const node: Node = { tokensPerSecond: 10_000, cacheTokens: 40_000 }

t.test(
  'a node that keeps a tenth of equally popular states has a tenth of them cached',
  async (t) => {
    const { cachedShare, utilization } = simulate(load, node, 10, 'turn')
    // 400 of 500 tokens are the state's.
    t.ok(Math.abs(cachedShare - 0.1 * 0.8) < 0.005, `${cachedShare}`)
    const expected = (100 * 500 * (1 - cachedShare)) / (10 * 10_000)
    t.ok(Math.abs(utilization - expected) < 0.02, `${utilization}, ${expected}`)
  },
)

t.test('by affinity, ten such nodes have several times as many', async (t) => {
  const inTurn = simulate(load, node, 10, 'turn')
  const byAffinity = simulate(load, node, 10, 'affinity')
  // Not all of them: a busy node's states are asked about on the next one, too.
  t.ok(byAffinity.cachedShare > 3 * inTurn.cachedShare, `${byAffinity.cachedShare}`)
  t.ok(byAffinity.cachedShare <= 0.8)
})

t.test('a queue with one server waits as theory says', async (t) => {
  // Every request takes the same time (M/D/1): at half of its time, the wait is half a service.
  const one: Load = { ...load, requests: 50, states: 1, stateTokens: 0.001 }
  const { p50Ms, utilization } = simulate(one, node, 1, 'turn')
  t.ok(Math.abs(utilization - 0.5) < 0.02, `${utilization}`)
  t.ok(p50Ms > 9.99 && p50Ms < 15, `${p50Ms}`)
})

t.test('fewer nodes do by affinity, and the others have the work of a lost one', async (t) => {
  const popular: Load = { ...load, requests: 400, skew: 0.8 }
  const inTurn = nodesFor(popular, node, 'turn', 0.7)
  const byAffinity = nodesFor(popular, node, 'affinity', 0.7)
  t.ok(byAffinity < inTurn, `${byAffinity}, ${inTurn}`)
  const whole = simulate(popular, node, byAffinity, 'affinity')
  const without = simulate(popular, node, byAffinity, 'affinity', true)
  t.ok(without.utilization > whole.utilization)
})

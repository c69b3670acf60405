/** Suffixes to one logit per option, compared with plain probabilities. */
import t from 'tap'
import { answerOf } from '../../src/scoring/answers.js'
import { meaningsOf } from '../../src/scoring/meanings.js'
import { optionLogits, orderSpread, suffixesOf } from '../../src/scoring/option-logits.js'
import { softmax } from '../../src/scoring/softmax.js'
import type { OrdersReading, ScoreReading } from '../../src/scoring/types.js'

const near = (actual: number, expected: number) => Math.abs(actual - expected) < 1e-12

t.test("a label's own bias cancels in the mean over all rotations", async (t) => {
  const strength = [0.2, 1.5, -0.7]
  const bias = [2, 0, -1]
  const orders = [0, 1, 2].map((turn) => {
    const places = strength.map((_, option) => (option + turn) % 3)
    const seen: number[] = []
    for (const [option, place] of places.entries()) seen[place] = strength[option]! + bias[place]!
    return { places, seen }
  })
  const reading: OrdersReading = {
    kind: 'orders',
    orders: orders.map(({ places }) => ({
      places,
      reading: { kind: 'labels', forms: [1, 1, 1] },
    })),
  }
  t.equal(suffixesOf(reading), 3)
  const result = optionLogits(
    reading,
    orders.map(({ seen }, i) => ({ logits: seen, vocabulary: 5 + i })),
  )
  const p = softmax(result.logits)
  const expected = softmax(strength)
  for (const [i, value] of expected.entries()) t.ok(near(p[i]!, value), `option ${i}`)

  const perOrder = orders.map(({ places, seen }) => {
    const inOrder = softmax(seen, 2)
    return places.map((place) => inOrder[place]!)
  })
  const spread = Math.max(
    ...strength.map((_, option) => {
      const own = perOrder.map((row) => row[option]!)
      return Math.max(...own) - Math.min(...own)
    }),
  )
  t.ok(near(orderSpread(result.orders!, 2), spread))
  const criteria = { a: null, b: null, c: null }
  const answer = answerOf({ type: 'choice', criteria }, result, { temperature: 2, evidence: true })
  t.ok(near(answer.evidence!.order_spread!, spread))
})

t.test('the likeliest form of each option, if the format says so', async (t) => {
  const reading = { kind: 'labels', forms: [2, 1], pick: 'likeliest' } as const
  const { logits } = optionLogits(reading, [{ logits: [1, 3, 2], vocabulary: 4 }])
  t.strictSame(logits, [3, 2])
})

t.test('the mean of probabilities over the orders, each at the temperature', async (t) => {
  const reading: OrdersReading = {
    kind: 'orders',
    mean: 'probabilities',
    orders: [
      [0, 1],
      [1, 0],
    ].map((places) => ({
      places,
      reading: { kind: 'labels', forms: [1, 1] },
    })),
  }
  const rows = [
    [2, 0],
    [1, 0.5],
  ]
  const measured = rows.map((logits) => ({ logits, vocabulary: 3 }))
  const result = optionLogits(reading, measured)
  const expected = (temperature: number) =>
    (softmax(rows[0]!, temperature)[0]! + softmax(rows[1]!, temperature)[1]!) / 2
  t.ok(near(softmax(result.logits)[0]!, expected(1)), 'its logits are those of temperature 1')
  const criteria = { a: null, b: null }
  for (const temperature of [1, 2]) {
    const answer = answerOf({ type: 'choice', criteria }, result, { temperature, evidence: false })
    t.ok(answer.type === 'choice' && near(answer.probabilities['a']!, expected(temperature)))
  }
})

t.test('the rank is that of the labels, and the worst of several orders', async (t) => {
  const labels = { kind: 'labels', forms: [1, 1] } as const
  const of = (rank: number) => ({ logits: [1, 2], vocabulary: 3, rank })
  t.equal(optionLogits(labels, [of(4)]).rank, 4)
  t.equal(optionLogits({ kind: 'labels', forms: [] }, []).rank, undefined)
  const orders: OrdersReading = {
    kind: 'orders',
    orders: [
      { places: [0, 1], reading: labels },
      { places: [1, 0], reading: labels },
    ],
  }
  const measured = optionLogits(orders, [of(1), of(7)])
  t.equal(measured.rank, 7)
  const question = { type: 'choice', criteria: { a: null, b: null } } as const
  const answer = answerOf(question, measured, { temperature: 1, evidence: true })
  t.equal(answer.evidence!.rank, 7)
})

t.test(
  'scores are the options’ logits, each of a suffix of its own; an option without has 0',
  async (t) => {
    const measured = [-1.5, 2, 0.25].map((logit) => ({ logits: [logit], vocabulary: 9, rank: 0 }))
    const three: ScoreReading = { kind: 'scores', options: [0, 1, 2] }
    t.equal(suffixesOf(three), 3)
    t.same(optionLogits(three, measured), { logits: [-1.5, 2, 0.25], labelMass: 1, rank: 0 })
    t.same(meaningsOf(three), [[[0]], [[1]], [[2]]])
    const noul: ScoreReading = { kind: 'scores', options: [null, 0] }
    t.equal(suffixesOf(noul), 1)
    t.same(optionLogits(noul, measured.slice(1)).logits, [0, 2])
    t.same(meaningsOf(noul), [[[1]]])
  },
)

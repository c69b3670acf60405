/** Temperatures from labelled logits, against models whose miscalibration is known. */
import t from 'tap'
import { calibrate } from '../../src/evaluate/calibrate/calibrate.js'
import { figuresOf } from '../../src/evaluate/calibrate/figures.js'
import type { RowObservation } from '../../src/evaluate/calibrate/sample.js'
import { sourceOf } from '../../src/scoring/calibration-source.js'
import { rowKey, splitRows } from '../../src/evaluate/calibrate/split.js'
import { createRandom } from '../helpers/random.js'
import { plainSoftmax, synthetic } from '../helpers/synthetic.js'

const near = (actual: number, expected: number, tolerance: number) =>
  Math.abs(actual - expected) <= tolerance
const half = { share: 0.5, seed: 1, repetitions: 20 }

t.test('a known miscalibration is found, and removed on held-out rows', async (t) => {
  const random = createRandom(11)
  const observations = [
    ...synthetic(random, {
      ...{ type: 'noul', options: 2, count: 80_000, temperature: 2.5, bias: 1.2 },
    }),
    ...synthetic(random, { type: 'choice', options: 4, count: 30_000, temperature: 0.6 }),
    ...synthetic(random, { type: 'choice', options: 12, count: 20_000, temperature: 1.7 }),
    ...synthetic(random, { type: 'score', options: 7, count: 20_000, temperature: 1 }),
  ]
  const { types, heldOut } = calibrate(observations, half)
  t.ok(near(types.noul!.temperature, 2.5, 0.05), `${types.noul!.temperature}`)
  t.ok(near(types.noul!.bias!, 1.2, 0.05), `${types.noul!.bias}`)
  t.strictSame(Object.keys(types.choice!.buckets!), ['3-5', '11+'])
  t.ok(near(types.choice!.buckets!['3-5']!.temperature, 0.6, 0.012))
  t.ok(near(types.choice!.buckets!['11+']!.temperature, 1.7, 0.034))
  t.ok(near(types.score!.temperature, 1, 0.02))
  t.notOk('bias' in types.choice! || 'buckets' in types.score!)

  for (const { before, after } of [heldOut, heldOut.types.noul!, heldOut.types.choice!]) {
    t.ok(before.ece > 0.05 && after.ece < 0.02, `${before.ece} to ${after.ece}`)
    t.ok(after.logLoss < before.logLoss && after.brier < before.brier)
  }
  t.equal(heldOut.types.choice!.before.accuracy, heldOut.types.choice!.after.accuracy)
})

t.test('the temperature is the minimum of loss and prior', async (t) => {
  const observations = synthetic(createRandom(3), {
    ...{ type: 'choice', options: 3, count: 120, temperature: 3 },
  })
  const { fitted } = splitRows(observations, 0.5, 1)
  const cost = (logTemperature: number) =>
    -fitted.reduce(
      (sum, { logits, right }) =>
        sum + Math.log(plainSoftmax(logits, Math.exp(logTemperature))[right]!),
      -2 * logTemperature ** 2,
    )
  const found = Math.log(calibrate(observations, half).types.choice!.temperature)
  for (const step of [1e-4, 1e-2, 1, 3]) {
    t.ok(cost(found - step) > cost(found) && cost(found + step) > cost(found), `${step}`)
  }
  // The slope changes its sign within 1e-6.
  const slope = (at: number) => cost(at + 1e-4) - cost(at - 1e-4)
  t.ok(slope(found - 1e-6) < 0 && slope(found + 1e-6) > 0)
})

t.test('few rows stay near the prior', async (t) => {
  const random = createRandom(5)
  const many = synthetic(random, { type: 'choice', options: 4, count: 8000, temperature: 2 })
  const alone = (count: number) =>
    synthetic(createRandom(6), { type: 'choice', options: 8, count, temperature: 0.3 })
  const bucketOf = (count: number) => {
    const { types } = calibrate([...many, ...alone(count)], half)
    return types.choice!.buckets!['6-10']!
  }
  const [few, some, lots] = [bucketOf(6), bucketOf(60), bucketOf(6000)]
  t.ok(few.observations > 0 && few.observations < 6)
  t.ok(few.temperature > some.temperature && some.temperature > lots.temperature)
  t.ok(few.temperature > 0.8, `${few.temperature}`)
  t.ok(near(lots.temperature, 0.3, 0.02), `${lots.temperature}`)
})

t.test('rows that are all right, or all wrong, have a temperature too', async (t) => {
  for (const [right, least, most] of [
    [0, 0.05, 1],
    [1, 1, 20],
  ] as const) {
    const rows = Array.from({ length: 60 }, (_, i): RowObservation => {
      const logits = [4, 0, 0]
      const named = { question: 'q', type: 'choice' as const, row: String(i) }
      return { ...named, logits, probabilities: plainSoftmax(logits), right }
    })
    const { temperature } = calibrate(rows, half).types.choice!
    t.ok(temperature > least && temperature < most, `${right}: ${temperature}`)
  }
})

t.test('a bias that does not exist is not fitted', async (t) => {
  let kept = 0
  for (let seed = 0; seed < 20; seed++) {
    const rows = synthetic(createRandom(100 + seed), {
      ...{ type: 'noul', options: 2, count: 600, temperature: 1.5 },
    })
    if (calibrate(rows, { ...half, repetitions: 1 }).types.noul!.bias !== undefined) kept++
  }
  // A gain above one standard error happens by chance in fewer than 16 of 100.
  t.ok(kept <= 6, `${kept}`)
})

t.test('intervals contain the true temperature as often as promised', async (t) => {
  const trials = 60
  let covered = 0
  for (let seed = 0; seed < trials; seed++) {
    const rows = synthetic(createRandom(1000 + seed), {
      ...{ type: 'choice', options: 3, count: 400, temperature: 1.4 },
    })
    const { temperature, interval } = calibrate(rows, {
      ...{ share: 0.5, seed, repetitions: 150 },
    }).types.choice!
    t.ok(interval[0] < temperature && temperature < interval[1])
    if (interval[0] <= 1.4 && 1.4 <= interval[1]) covered++
  }
  // Of 57 expected, four standard deviations less.
  t.ok(covered >= 50, `${covered}`)
})

t.test('the same rows give the same result, another seed another split', async (t) => {
  const rows = synthetic(createRandom(8), {
    ...{ type: 'noul', options: 2, count: 500, temperature: 2 },
  })
  t.strictSame(calibrate(rows, half), calibrate(rows, half))
  const other = calibrate(rows, { ...half, seed: 2 })
  t.not(other.types.noul!.temperature, calibrate(rows, half).types.noul!.temperature)
})

t.test('rows of one state are held out together, whatever else is in the file', async (t) => {
  const rows = Array.from({ length: 3000 }, (_, i) => ({ row: rowKey({ state: i % 1000 }), i }))
  const { fitted, heldOut } = splitRows(rows, 0.3, 7)
  t.equal(fitted.length + heldOut.length, 3000)
  // Four standard deviations of 1000 draws.
  t.ok(near(heldOut.length / 3000, 0.3, 0.06), `${heldOut.length}`)
  const states = new Set(heldOut.map(({ row }) => row))
  t.notOk(fitted.some(({ row }) => states.has(row)))
  const part = splitRows(rows.slice(0, 500), 0.3, 7).heldOut
  t.strictSame(
    part,
    heldOut.filter(({ i }) => i < 500),
  )
  t.not(rowKey({ state: 'a' }), rowKey({ state: 'a', images: ['data:'] }))
})

t.test('without rows in both sets there are no figures', async (t) => {
  const [row] = synthetic(createRandom(1), {
    ...{ type: 'noul', options: 2, count: 1, temperature: 1 },
  })
  for (const rows of [[], [row!]]) {
    t.throws(() => calibrate(rows, half), { code: 'ERR_CONFIG', message: /--held-out/ })
  }
})

t.test('a type that was not fitted is unchanged', async (t) => {
  const random = createRandom(9)
  const nouls = synthetic(random, { type: 'noul', options: 2, count: 400, temperature: 3 })
  const source = sourceOf(calibrate(nouls, half).types)
  t.equal(source('choice', 4), undefined)
  t.ok(source('noul', 2)!.temperature > 2)
})

t.test("a bucket without a temperature has its type's", async (t) => {
  const source = sourceOf({
    noul: { temperature: 3, bias: -1 },
    choice: { temperature: 2, buckets: { '3-5': { temperature: 4 } } },
  })
  t.strictSame(source('noul', 2), { temperature: 3, bias: -1 })
  for (const [options, temperature] of [
    [2, 2],
    [3, 4],
    [5, 4],
    [6, 2],
    [11, 2],
  ] as const) {
    t.strictSame(source('choice', options), { temperature, bias: 0 }, `${options}`)
  }
})

t.test('a label that cannot be produced does not spoil the fit', async (t) => {
  const rows = synthetic(createRandom(12), {
    ...{ type: 'choice', options: 3, count: 400, temperature: 2 },
  }).map((row, i) =>
    i % 50 === 0 ? { ...row, logits: row.logits.map((l, o) => (o === 2 ? -Infinity : l)) } : row,
  )
  const { types, heldOut } = calibrate(rows, half)
  t.ok(Number.isFinite(types.choice!.temperature) && Number.isFinite(heldOut.after.logLoss))
})

t.test('certainty and a probability of 0 have figures', async (t) => {
  const sure = figuresOf([{ type: 'choice', probabilities: [1, 0], right: 0 }])
  t.match(sure, { accuracy: 1, brier: 0, ece: 0 })
  t.equal(sure.logLoss + 0, 0)
  const wrong = figuresOf([{ type: 'choice', probabilities: [1, 0], right: 1 }])
  t.match(wrong, { accuracy: 0, brier: 2, ece: 1 })
  t.ok(near(wrong.logLoss, -Math.log(2 ** -52), 1e-12))
})

/** Two runs over the same rows, compared answer by answer. */
import t from 'tap'
import type { RowRecord } from '../../src/evaluate/measure.js'
import { mcNemar, Paired } from '../../src/evaluate/paired.js'
import { createRandom } from '../helpers/random.js'

const other = { file: 'a.jsonl', models: [{ name: 'a' }] }

/** A row whose nouls were answered rightly or not. */
function row(line: number, correct: readonly boolean[]): RowRecord {
  const outcomes = correct.map((right, i) => ({
    ...{ question: `q${i}`, type: 'noul' as const, options: 2, correct: right, confidence: 0.8 },
    ...{ brier: right ? 0.08 : 1.28, logLoss: 0.2, labelMass: 1 },
    ...{ wanted: 'yes', got: right ? 'yes' : 'no' },
  }))
  const tokens = { input: 1, cached: 0, image: 0, output: 1 }
  return { line, outcomes, answers: '{}', tokens, latencyMs: 1, modelMs: 1 }
}

const rowsOf = (count: number, seed: number, share: number) => {
  const random = createRandom(seed)
  const isRight = () => random.next() < share
  return Array.from({ length: count }, (_, i) => row(i + 1, [isRight(), isRight()]))
}

function compared(here: readonly RowRecord[], there: readonly RowRecord[]) {
  const paired = new Paired()
  for (const each of there) paired.addOther(each)
  for (const each of here) paired.add(each)
  return paired.figures(other)
}

const rightIn = (record: RowRecord) =>
  'outcomes' in record ? record.outcomes.map(({ correct }) => correct) : []

t.test('means, differences and the answers that one has right are those of the rows', async (t) => {
  const [here, there] = [rowsOf(300, 1, 0.8), rowsOf(300, 2, 0.7)]
  const [a, b] = [here.flatMap(rightIn), there.flatMap(rightIn)]
  const figures = compared(here, there)
  const mean = (list: readonly boolean[]) => list.filter(Boolean).length / list.length
  t.equal(figures.answers, 600)
  t.equal(figures.accuracy.here, mean(a))
  t.equal(figures.accuracy.there, mean(b))
  t.ok(Math.abs(figures.accuracy.difference - (mean(a) - mean(b))) < 1e-12)
  t.ok(Math.abs(figures.brier.difference + 1.2 * figures.accuracy.difference) < 1e-9)
  t.equal(figures.onlyHere, a.filter((right, i) => right && !b[i]).length)
  t.equal(figures.onlyThere, b.filter((right, i) => right && !a[i]).length)
  t.equal(figures.p, mcNemar(figures.onlyHere, figures.onlyThere))
  t.equal(figures.differing.length, 50)
  t.match(figures.differing[0], { wanted: 'yes', here: /yes|no/, there: /yes|no/ })
  t.match(figures, other)
})

t.test('the interval is about as wide as theory says, over rows', async (t) => {
  const [here, there] = [rowsOf(2000, 3, 0.8), rowsOf(2000, 4, 0.7)]
  const { difference, interval } = compared(here, there).accuracy
  // Of the means of rows: their standard error, linearized.
  const perRow = here.map((each, i) => {
    const [a, b] = [rightIn(each), rightIn(there[i]!)]
    return a.reduce((sum, right, j) => sum + (Number(right) - Number(b[j]) - difference), 0)
  })
  const error = Math.sqrt(perRow.reduce((sum, d) => sum + d * d, 0)) / 4000
  t.ok(interval[0] < difference && difference < interval[1])
  t.ok(Math.abs((interval[1] - interval[0]) / (2 * 1.96 * error) - 1) < 0.1)
})

t.test('the order of the rows changes nothing', async (t) => {
  const [here, there] = [rowsOf(200, 5, 0.8), rowsOf(200, 6, 0.7)]
  const { brier, ...forth } = compared(here, there)
  const { brier: other, ...back } = compared(here.toReversed(), there.toReversed())
  t.strictSame(back, forth)
  t.ok(Math.abs(brier.interval[0] - other.interval[0]) < 1e-9)
})

t.test('only answers that both have count, and a line once', async (t) => {
  const refused = { line: 3, refused: 'too long' }
  const here = [row(1, [true]), row(2, [true]), row(4, [true])]
  const there = [row(1, [false]), refused, row(1, [true]), row(4, [true, true]), row(5, [false])]
  const figures = compared(here, there)
  t.match(figures, { answers: 2, onlyHere: 1, onlyThere: 0, p: 1 })
  t.strictSame(figures.differing, [
    { line: 1, question: 'q0', wanted: 'yes', here: 'yes', there: 'no' },
  ])
  t.ok(Number.isNaN(compared([], there).accuracy.here))
})

t.test("McNemar's test is the tail of a fair coin, twice", async (t) => {
  t.equal(mcNemar(0, 0), 1)
  t.equal(mcNemar(7, 7), 1)
  t.ok(Math.abs(mcNemar(10, 2) - (2 * (1 + 12 + 66)) / 4096) < 1e-12)
  t.equal(mcNemar(2, 10), mcNemar(10, 2))
  // The normal approximation, with a correction for continuity: 2 * (1 - Phi(199 / 100)).
  t.ok(Math.abs(mcNemar(5100, 4900) - 0.0466) < 0.001)
})

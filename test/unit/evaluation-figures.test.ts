/**
 * The figures of `oi eval` against plain computations of the same, on random data.
 *
 * The computations here keep every answer and use nothing of src/evaluate but the answers.
 */
import t, { type Test } from 'tap'
import { LogHistogram } from '../../src/evaluate/figures/histogram.js'
import { type Outcome, outcomeOf } from '../../src/evaluate/figures/outcome.js'
import { areaOf } from '../../src/evaluate/figures/curves.js'
import { Ranking } from '../../src/evaluate/figures/ranking.js'
import { Tally } from '../../src/evaluate/figures/tally.js'
import type { Observation } from '../../src/evaluate/rows/types.js'
import type { Question } from '../../src/decide/types.js'
import { createRandom, type Random } from '../helpers/random.js'

const near = (t: Test, got: number, wanted: number, name: string, within = 1e-9) =>
  t.ok(Math.abs(got - wanted) <= within, `${name}: ${got} is ${wanted}`)

const questions: Readonly<Record<Question['type'], Question>> = {
  noul: { type: 'noul', instructions: '?' },
  choice: { type: 'choice', criteria: { a: null, b: null, c: null, d: null } },
  score: { type: 'score', criteria: ['a', 'b', 'c', 'd'] },
}

function observation(type: Question['type'], random: Random): Observation {
  const n = type === 'noul' ? 2 : 4
  const weights = Array.from({ length: n }, () => random.next() ** 4 + 1e-6)
  const sum = weights.reduce((a, b) => a + b, 0)
  const probabilities = weights.map((weight) => weight / sum)
  const logits = probabilities.map(Math.log)
  const right = random.integer(n)
  return { question: 'q', type, logits, probabilities, right, labelMass: random.next() }
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length

for (const type of ['noul', 'choice', 'score'] as const) {
  t.test(`figures of a ${type} agree with sums over all answers`, async (t) => {
    const random = createRandom(type.length)
    const answers = Array.from({ length: 5000 }, () => observation(type, random))
    const tally = new Tally()
    for (const answer of answers) tally.add(outcomeOf(answer, questions[type]))
    const figures = tally.figures()

    const top = answers.map(({ probabilities }) => Math.max(...probabilities))
    const hits = answers.map(({ probabilities, right }, i) =>
      probabilities[right] === top[i] ? 1 : 0,
    )
    near(t, figures.accuracy, mean(hits), 'accuracy')
    near(t, figures.guessing, type === 'noul' ? 0.5 : 0.25, 'guessing')
    const squares = answers.map(({ probabilities: p, right }) =>
      p.map((each, i) => (i === right ? (1 - each) ** 2 : each ** 2)).reduce((a, b) => a + b),
    )
    near(t, figures.brier, mean(squares), 'Brier')
    const losses = answers.map(({ probabilities, right }) => Math.log(1 / probabilities[right]!))
    near(t, figures.logLoss, mean(losses), 'log loss')

    let ece = 0
    for (let bin = 0; bin < 10; bin++) {
      const inside = answers.flatMap((_, i) =>
        top[i]! >= bin / 10 && (top[i]! < (bin + 1) / 10 || bin === 9) ? [i] : [],
      )
      t.equal(figures.bins[bin]!.answers, inside.length)
      if (inside.length === 0) continue
      const confidence = mean(inside.map((i) => top[i]!))
      const accuracy = mean(inside.map((i) => hits[i]!))
      near(t, figures.bins[bin]!.confidence, confidence, 'confidence of a bin')
      near(t, figures.bins[bin]!.accuracy, accuracy, 'accuracy of a bin')
      ece += (inside.length / answers.length) * Math.abs(confidence - accuracy)
    }
    near(t, figures.ece, ece, 'ECE')

    const masses = answers.map(({ labelMass }) => labelMass).toSorted((a, b) => a - b)
    near(t, figures.labelMass.mean, mean(masses), 'label mass')
    near(t, figures.labelMass.p5, masses[249]!, '5 % of the label mass', 0.012 * masses[249]!)
    t.equal(figures.noul !== undefined, type === 'noul')
    t.equal(figures.score !== undefined, type === 'score')
    t.equal(figures.flips, undefined)
    t.equal(figures.other, undefined)
  })
}

t.test('"none of the others fits" is detected by its options together', async (t) => {
  const random = createRandom(13)
  const answers = Array.from({ length: 1000 }, () => observation('choice', random))
  const tally = new Tally()
  const others = new Set(['b', 'd', 'elsewhere'])
  for (const answer of answers) tally.add(outcomeOf(answer, questions.choice, undefined, others))
  const other = tally.figures().other!
  const told = answers.map(({ probabilities: p, right }) => ({
    probability: p[1]! + p[3]!,
    said: Math.max(p[1]!, p[3]!) > Math.max(p[0]!, p[2]!),
    right: right % 2 === 1,
  }))
  const [yes, no] = [told.filter(({ right }) => right), told.filter(({ right }) => !right)]
  near(t, other.yes, yes.length / told.length, 'share of others')
  const found = yes.filter(({ said }) => said).length
  near(t, other.recall, found / yes.length, 'recall')
  near(t, other.precision, found / told.filter(({ said }) => said).length, 'precision')
  const ahead = yes.map((a) => no.filter((b) => a.probability > b.probability).length / no.length)
  near(t, other.auc, mean(ahead), 'AUC', 1e-3)
  t.equal(outcomeOf(answers[0]!, questions.choice, undefined, new Set(['e'])).other, undefined)
  t.equal(outcomeOf(answers[0]!, questions.score, undefined, new Set(['b'])).other, undefined)
})

t.test('a noul of .5 is a yes, as everywhere else', async (t) => {
  const half = { question: 'q', type: 'noul', logits: [0, 0], probabilities: [0.5, 0.5] } as const
  t.equal(outcomeOf({ ...half, right: 1, labelMass: 1 }, questions.noul).correct, true)
  t.match(outcomeOf({ ...half, right: 0, labelMass: 1 }, questions.noul), {
    correct: false,
    ...{ wanted: 'no', got: 'yes' },
  })
})

t.test('figures of a scale agree with sums over all answers', async (t) => {
  const random = createRandom(11)
  const answers = Array.from({ length: 500 }, () => observation('score', random))
  const tally = new Tally()
  for (const answer of answers) tally.add(outcomeOf(answer, questions.score))
  const score = tally.figures().score!
  const errors = answers.map(({ probabilities: [, b, c, d], right }) =>
    Math.abs(b! + 2 * c! + 3 * d! - right),
  )
  near(t, score.meanError, mean(errors), 'mean error')
  const close = errors.map((error) => (error <= 0.5 ? 1 : 0))
  near(t, score.withinHalf, mean(close), 'share within half a level')
  const ranked = answers.map(({ probabilities: p, right }) => {
    const steps = [p[0]!, p[0]! + p[1]!, p[0]! + p[1]! + p[2]!]
    return mean(steps.map((below, k) => (below - (right <= k ? 1 : 0)) ** 2))
  })
  near(t, score.ranked, mean(ranked), 'ranked probability score')
})

t.test('the interval of the accuracy is that of the published example', async (t) => {
  // 81 of 263: Newcombe, Statistics in Medicine 17, 1998, table I: .2553 to .3662.
  const tally = new Tally()
  const base: Outcome = {
    ...{ question: 'q', type: 'choice', options: 2, confidence: 0.9, brier: 0, logLoss: 0 },
    ...{ labelMass: 1, correct: false, wanted: 'a', got: 'b' },
  }
  for (let i = 0; i < 263; i++) tally.add({ ...base, correct: i < 81 })
  const [low, high] = tally.figures().accuracyInterval
  near(t, low, 0.2553, 'low', 5e-5)
  near(t, high, 0.3662, 'high', 5e-5)
})

t.test('flips are shares of the reversed questions', async (t) => {
  const one = observation('choice', createRandom(1))
  const other = one.probabilities.map((p, i) => one.probabilities[(i + 1) % 4]! + 0 * p)
  const same = outcomeOf(one, questions.choice, one.probabilities)
  t.strictSame(same.reversed, { flipped: false, shift: 0 })
  const tally = new Tally()
  tally.add(outcomeOf(one, questions.choice))
  tally.add(same)
  tally.add(outcomeOf(one, questions.choice, other))
  const shift = Math.max(...one.probabilities.map((p, i) => Math.abs(p - other[i]!)))
  t.strictSame(tally.figures().flips, { answers: 2, rate: 0.5, shift: shift / 2 })
})

t.test('a right option with probability 0 has a large, finite loss', async (t) => {
  const sure: Observation = {
    ...{ question: 'q', type: 'choice', logits: [], labelMass: 1 },
    ...{ probabilities: [1, 0, 0, 0], right: 1 },
  }
  const { logLoss, brier } = outcomeOf(sure, questions.choice)
  near(t, logLoss, 52 * Math.LN2, 'log loss')
  t.equal(brier, 2)
})

t.test('without measurements there is no number, and no failure', async (t) => {
  const figures = new Tally().figures()
  t.ok(Number.isNaN(figures.accuracy) && Number.isNaN(figures.accuracyInterval[0]))
  t.ok(Number.isNaN(new LogHistogram(1, 10).quantile(0.5)))
  t.ok(Number.isNaN(areaOf(new Ranking().steps())))
})

t.test('quantiles of a histogram are exact to two per cent, whatever their size', async (t) => {
  const random = createRandom(3)
  const values = Array.from({ length: 10_000 }, () => 10 ** (8 * random.next() - 2))
  const histogram = new LogHistogram(1e-3, 1e7)
  for (const value of values) histogram.add(value)
  const sorted = values.toSorted((a, b) => a - b)
  for (const share of [0.001, 0.05, 0.5, 0.9, 0.99, 1]) {
    const exact = sorted[Math.max(1, Math.ceil(share * values.length)) - 1]!
    near(t, histogram.quantile(share) / exact, 1, `quantile ${share}`, 0.02)
  }
  near(t, histogram.mean, mean(values), 'mean', 1e-3)
  const columns = histogram.columns(40)
  t.ok(columns.length <= 40)
  const counted = columns.reduce((sum, { count }) => sum + count, 0)
  t.equal(counted, values.length)
})

t.test('a histogram takes values outside its bounds', async (t) => {
  const histogram = new LogHistogram(1, 10)
  for (const value of [0, 1e-9, 5, 1e9, NaN, -1]) histogram.add(value)
  t.ok(histogram.quantile(0) < 1.03, 'within the first bucket')
  t.equal(histogram.quantile(1), 1e9)
  t.equal(histogram.columns(1)[0]!.count, 4)
})

/**
 * Curves, thresholds, bins and tables of options against plain computations over all answers.
 *
 * The computations use nothing of src/evaluate but the answers.
 */
import t, { type Test } from 'tap'
import { Confusion } from '../../src/evaluate/confusion.js'
import { type Outcome, outcomeOf } from '../../src/evaluate/figures/outcome.js'
import { Ranking } from '../../src/evaluate/figures/ranking.js'
import { areaOf } from '../../src/evaluate/figures/curves.js'
import { Tally } from '../../src/evaluate/figures/tally.js'
import { beginningOf, WrongAnswers } from '../../src/evaluate/wrong-answers.js'
import { createRandom } from '../helpers/random.js'

const near = (t: Test, got: number, wanted: number, name: string, within = 1e-12) =>
  t.ok(Math.abs(got - wanted) <= within, `${name}: ${got} is ${wanted}`)
const share = <T>(list: readonly T[], holds: (one: T) => boolean) =>
  list.filter(holds).length / list.length

interface Said {
  readonly p: number
  readonly right: boolean
}

/** Nouls of which some have the same probability. */
function said(count: number, seed: number, grain: number): Said[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, () => {
    const right = random.integer(3) === 0
    const p = Math.round(grain * (0.6 * random.next() + (right ? 0.35 : 0.05))) / grain
    return { p, right }
  })
}

function figuresOf(answers: readonly Said[]) {
  const tally = new Tally()
  for (const { p, right } of answers) {
    const observed = { question: 'q', type: 'noul', logits: [0, 0], labelMass: 1 } as const
    const of = { ...observed, probabilities: [1 - p, p], right: Number(right) }
    tally.add(outcomeOf(of, { type: 'noul', instructions: '?' }))
  }
  return tally.figures()
}

for (const [count, grain] of [
  [700, 100],
  [900, 1e9],
  [12, 4],
] as const) {
  t.test(`curves and thresholds of ${count} nouls are those of all thresholds`, async (t) => {
    const answers = said(count, count, grain)
    const noul = figuresOf(answers).noul!
    const yes = answers.filter(({ right }) => right)
    const no = answers.filter(({ right }) => !right)
    const at = (threshold: number) => {
      const taken = answers.filter(({ p }) => p >= threshold)
      const found = taken.filter(({ right }) => right).length
      const recall = found / yes.length
      const precision = found / taken.length
      return {
        ...{ recall, precision, falseYes: (taken.length - found) / no.length },
        f1: (2 * precision * recall) / (precision + recall),
        accuracy: share(answers, ({ p, right }) => p >= threshold === right),
      }
    }

    for (const name of ['recall', 'precision', 'f1'] as const) {
      near(t, noul[name], at(0.5)[name], name)
    }
    near(t, noul.yes, yes.length / count, 'share of yes')
    const squares = answers.map(({ p, right }) => (p - Number(right)) ** 2)
    near(t, noul.brier, squares.reduce((a, b) => a + b, 0) / count, 'Brier')
    const pairs = yes.flatMap((a) => no.map((b) => (a.p > b.p ? 1 : a.p === b.p ? 0.5 : 0)))
    near(t, noul.auc, pairs.reduce((a: number, b) => a + b, 0) / pairs.length, 'AUC')
    const thresholds = [...new Set(answers.map(({ p }) => p))].sort((a, b) => b - a)
    let [average, before] = [0, 0]
    for (const threshold of thresholds) {
      const { recall, precision } = at(threshold)
      average += (recall - before) * precision
      before = recall
    }
    near(t, noul.averagePrecision, average, 'average precision')

    t.ok(noul.curve.length <= 50 && noul.curve.length >= Math.min(50, thresholds.length) - 1)
    for (const { threshold, ...point } of noul.curve) {
      const { recall, precision, falseYes } = at(threshold)
      near(t, point.recall, recall, `recall from ${threshold}`)
      near(t, point.precision, precision, 'precision')
      near(t, point.falseYes, falseYes, 'false yes')
    }
    t.match(noul.curve.at(-1), { recall: 1, falseYes: 1 })

    const rules = noul.thresholds.map(({ rule }) => rule)
    t.strictSame(rules, ['half', 'accuracy', 'f1'])
    t.equal(noul.thresholds[0]!.threshold, 0.5)
    for (const { rule, threshold, ...figures } of noul.thresholds) {
      const wanted = at(threshold)
      for (const name of ['precision', 'recall', 'f1', 'accuracy'] as const) {
        near(t, figures[name], wanted[name], `${name} from ${threshold}`)
      }
      if (rule === 'half') continue
      const best = Math.max(...thresholds.map((each) => at(each)[rule] || 0))
      near(t, figures[rule], best, `best ${rule}`)
    }
  })

  t.test(`coverage and bins of ${count} nouls are those of all answers`, async (t) => {
    const answers = said(count, count + 1, grain).map(({ p, right }) => ({
      sure: p >= 0.5 ? p : 1 - p,
      correct: p >= 0.5 === right,
    }))
    const figures = figuresOf(said(count, count + 1, grain))
    t.equal(figures.coverage.at(-1)!.coverage, 1)
    for (const { coverage, confidence, error } of figures.coverage) {
      const taken = answers.filter(({ sure }) => sure >= confidence)
      near(t, coverage, taken.length / count, `coverage from ${confidence}`)
      near(
        t,
        error,
        share(taken, ({ correct }) => !correct),
        'error',
      )
    }

    // As numpy.percentile and searchsorted have it.
    const sorted = answers.map(({ sure }) => sure).sort((a, b) => a - b)
    const edges = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((tenth) => {
      const place = (tenth / 10) * (count - 1)
      const below = sorted[Math.floor(place)]!
      return below + (place % 1) * (sorted[Math.ceil(place)]! - below)
    })
    const bins = Array.from({ length: 10 }, (_, bin) =>
      answers.filter(({ sure }) => edges.filter((edge) => edge < sure).length === bin),
    ).filter((bin) => bin.length > 0)
    const counts = figures.massBins.map((bin) => bin.answers)
    t.strictSame(
      counts,
      bins.map((bin) => bin.length),
    )
    for (const [i, bin] of bins.entries()) {
      const { confidence, accuracy, interval } = figures.massBins[i]!
      near(t, confidence, bin.reduce((sum, { sure }) => sum + sure, 0) / bin.length, 'confidence')
      near(
        t,
        accuracy,
        share(bin, ({ correct }) => correct),
        'accuracy',
      )
      // The ends of Wilson's interval p are where the distance is z standard deviations of p.
      for (const end of interval) {
        const distance = (accuracy - end) ** 2 - (1.959964 ** 2 * end * (1 - end)) / bin.length
        near(t, distance, 0, 'interval', 1e-9)
      }
    }
  })
}

t.test('many answers are counted in buckets, in the same memory', async (t) => {
  const answers = said(40_000, 9, 1e9)
  const exact = [...answers].sort((a, b) => a.p - b.p)
  let [pairs, noes] = [0, 0]
  for (const { right } of exact) {
    if (right) pairs += noes
    else noes++
  }
  const ranking = new Ranking()
  for (const { p, right } of answers) ranking.add(p, right)
  const steps = ranking.steps()
  t.ok(steps.length < 2000)
  const all = steps.reduce((sum, { yes, no }) => sum + yes + no, 0)
  t.equal(all, 40_000)
  near(t, areaOf(steps), pairs / (noes * (40_000 - noes)), 'AUC', 1e-4)
})

const outcome = (wanted: string, got: string, more: Partial<Outcome> = {}): Outcome => ({
  ...{ question: 'q', type: 'choice', options: 4, correct: wanted === got, confidence: 0.7 },
  ...{ brier: 1, logLoss: 1, labelMass: 1, wanted, got, ...more },
})

t.test(
  'figures of each option, their means and the matrix are counts over all answers',
  async (t) => {
    const random = createRandom(11)
    const names = ['a', 'b', 'c', 'never right', 'never answered']
    const answers = Array.from({ length: 500 }, () => ({
      wanted: random.pick(['a', 'a', 'a', 'b', 'b', 'c', 'never answered']),
      got: random.pick(['a', 'b', 'b', 'c', 'never right']),
    }))
    const confusion = new Confusion()
    for (const { wanted, got } of answers) confusion.add('q', outcome(wanted, got))
    confusion.add('n', { ...outcome('yes', 'yes'), type: 'noul' })
    const [choice, more] = confusion.choices()
    t.equal(more, undefined)
    t.strictSame(choice!.options.map(({ name }) => name).toSorted(), names.toSorted())
    t.equal(choice!.options[0]!.name, 'a')
    const macro = { precision: 0, recall: 0, f1: 0 }
    for (const [i, option] of choice!.options.entries()) {
      const right = answers.filter(({ wanted }) => wanted === option.name)
      const given = answers.filter(({ got }) => got === option.name)
      const correct = right.filter(({ got }) => got === option.name)
      t.match(option, { right: right.length, answered: given.length, correct: correct.length })
      const figures = {
        precision: given.length === 0 ? 0 : correct.length / given.length,
        recall: right.length === 0 ? 0 : correct.length / right.length,
        f1: (2 * correct.length) / (right.length + given.length),
      }
      for (const name of ['precision', 'recall', 'f1'] as const) {
        near(t, option[name] || 0, figures[name], `${name} of ${option.name}`)
        macro[name] += figures[name] / names.length
      }
      t.strictSame(
        choice!.confusion[i],
        choice!.options.map(({ name }) => right.filter(({ got }) => got === name).length),
      )
    }
    for (const name of ['precision', 'recall', 'f1'] as const) {
      near(t, choice!.macro[name], macro[name], `macro ${name}`)
    }
    const wrong = answers.filter(({ wanted, got }) => wanted === 'a' && got === 'b').length
    t.match(confusion.mistakes(1), [{ question: 'q', wanted: 'a', got: 'b', count: wrong }])
  },
)

t.test('the wrong answers shown are those with the largest confidence', async (t) => {
  const random = createRandom(12)
  const wrong = new WrongAnswers()
  const all = Array.from({ length: 1000 }, (_, i) => ({
    line: i + 1,
    confidence: random.integer(50) / 50,
    correct: random.integer(2) === 1,
  }))
  for (const { line, ...more } of all) wrong.add(line, 'q', outcome('a', 'b', more))
  const wanted = all
    .filter(({ correct }) => !correct)
    .toSorted((a, b) => b.confidence - a.confidence || a.line - b.line)
    .slice(0, 100)
    .map(({ line }) => line)
  t.strictSame(
    wrong.list(new Map()).map(({ line }) => line),
    wanted,
  )
  t.strictSame([...wrong.lines], wanted)
  const [first] = wrong.list(new Map([[wanted[0]!, 'I was charged']]))
  t.match(first, { state: 'I was charged', ofRight: Math.exp(-1) })
})

t.test('a state is shown by its beginning', async (t) => {
  t.equal(beginningOf('a text'), 'a text')
  t.equal(beginningOf({ text: 'inside' }), 'inside')
  t.equal(beginningOf({ a: 'x', b: 'y' }), '{"a":"x","b":"y"}')
  t.equal(beginningOf([1, 2]), '[1,2]')
  t.match(beginningOf('long '.repeat(100)), /^.{299}…$/)
})

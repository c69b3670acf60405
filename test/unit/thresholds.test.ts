/** Thresholds that keep an error rate, and their bound. */
import t from 'tap'
import { atMost, upperBound } from '../../src/evaluate/calibrate/binomial.js'
import { type Answered, thresholdsOf } from '../../src/evaluate/calibrate/thresholds.js'
import { createRandom, type Random } from '../helpers/random.js'

const near = (actual: number, expected: number, tolerance: number) =>
  Math.abs(actual - expected) <= tolerance
const goal = { rate: 0.1, confidence: 0.95 }

/** A noul whose top probability is uniform in 0.5 to 1, and right as often as it says. */
const answers = (random: Random, count: number, question = 'q'): Answered[] =>
  Array.from({ length: count }, () => {
    const yes = random.next()
    const right = random.next() < yes ? 1 : 0
    return { question, type: 'noul', probabilities: [1 - yes, yes], right }
  })

t.test('the bound of a rate has its published values', async (t) => {
  // One-sided 95 %: 1 - 0.05^(1/n) without errors; the others from tables of Clopper and Pearson.
  t.ok(near(upperBound(0, 59, 0.95), 1 - 0.05 ** (1 / 59), 1e-9))
  t.ok(near(upperBound(1, 10, 0.95), 0.3942, 5e-5))
  t.ok(near(upperBound(5, 100, 0.95), 0.1023, 5e-5))
  t.equal(upperBound(7, 7, 0.95), 1)
})

t.test('the sum of binomial probabilities, also of many trials', async (t) => {
  t.ok(near(atMost(1, 3, 0.5), 0.5, 1e-12))
  t.ok(near(atMost(2, 5, 0.1), 0.99144, 1e-9))
  t.equal(atMost(5, 5, 0.3), 1)
  t.equal(atMost(0, 5, 0), 1)
  t.equal(atMost(4, 5, 1), 0)
  // The median of Binomial(1e6, 0.3) is its mean.
  t.ok(near(atMost(300_000, 1_000_000, 0.3), 0.5, 1e-3))
})

t.test('the promise is kept in as many trials as stated', async (t) => {
  const trials = 300
  let [broken, found, share] = [0, 0, 0]
  for (let seed = 0; seed < trials; seed++) {
    const random = createRandom(7000 + seed)
    const [one] = thresholdsOf(answers(random, 1000), answers(random, 1000), goal)
    if (one!.found === undefined) continue
    const { threshold, decided, wrong, bound, undecided } = one!.found
    found++
    share += 1 - undecided
    // Above it: the mean of 1 - p for p uniform from the threshold to 1.
    if ((1 - Math.max(0.5, threshold)) / 2 > goal.rate) broken++
    t.ok(bound <= goal.rate && wrong / decided < bound)
  }
  // 5 % of 300 and four standard deviations.
  t.ok(broken <= 30, `${broken} broken`)
  // A threshold of 0.8 is the loosest that keeps it, and decides 40 %.
  t.ok(found > 0.8 * trials && share / found > 0.25, `${found} found, ${share / found}`)
})

t.test('answers that are surely right are all decided', async (t) => {
  const right = Array.from({ length: 80 }, (_, i): Answered => ({
    ...{ question: 'easy', type: 'choice', probabilities: [0.6 + i / 300, 0.4 - i / 300] },
    right: 0,
  }))
  const [one] = thresholdsOf(right, right, goal)
  t.match(one, { question: 'easy', type: 'choice', observations: 80, reason: undefined })
  t.match(one!.found, { threshold: 0, decided: 80, wrong: 0, undecided: 0 })
})

t.test('if no threshold holds, it says why', async (t) => {
  const random = createRandom(1)
  const few = thresholdsOf(answers(random, 300), answers(random, 20), goal)
  t.match(few, [{ found: undefined, reason: 'it needs at least 29 held-out answers, got 20' }])

  const wrong = answers(random, 300).map((one) => ({ ...one, right: random.integer(2) }))
  const coin = thresholdsOf(wrong, wrong, goal)
  t.match(coin, [{ found: undefined, reason: /wrong too often/ }])
  t.strictSame(thresholdsOf([], [], goal), [])
})

t.test('each question has its own threshold, in their order', async (t) => {
  const random = createRandom(2)
  const part = (count: number) => [
    ...answers(random, count, 'b'),
    ...answers(random, count, 'a').map((one) => ({
      ...one,
      right: one.probabilities[1]! > 0.5 ? 1 : 0,
    })),
  ]
  const [b, a] = thresholdsOf(part(2000), part(2000), goal)
  t.match([b!.question, a!.question], ['b', 'a'])
  t.equal(a!.found!.threshold, 0)
  t.ok(near(b!.found!.threshold, 0.84, 0.04), `${b!.found!.threshold}`)
})

t.test(
  'a probability equal to the threshold is decided; without fitted answers it is all or none',
  async (t) => {
    const random = createRandom(3)
    const [none] = thresholdsOf([], answers(random, 500), goal)
    t.equal(none!.found, undefined)
    const sure = answers(random, 500).map((one) => ({ ...one, probabilities: [0, 1], right: 1 }))
    t.match(thresholdsOf([], sure, goal), [{ found: { threshold: 0, decided: 500 } }])
    const half = [...sure, ...answers(random, 500).map((one) => ({ ...one, right: 2 }))]
    const [one] = thresholdsOf(half, half, goal)
    t.ok(one!.found!.threshold > 0.9 && one!.found!.decided >= 500)
  },
)

/** Logits to answers: no model, no engine. */
import t from 'tap'
import { RawNumber } from '../../src/api/json.js'
import type {
  ChoiceQuestion,
  NoulAnswer,
  NoulQuestion,
  ScoreQuestion,
} from '../../src/decide/types.js'
import { answerOf, choiceAnswer, noulAnswer, scoreAnswer } from '../../src/scoring/answers.js'
import { optionLogits } from '../../src/scoring/option-logits.js'
import { argMax, choiceConfidence, scoreConfidence } from '../../src/scoring/confidence.js'
import type { Measurement } from '../../src/scoring/types.js'
import { logSumExp, softmax } from '../../src/scoring/softmax.js'
import { createRandom } from '../helpers/random.js'

const near = (actual: number, expected: number, tolerance: number) =>
  Math.abs(actual - expected) <= tolerance
const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0)
const refused = { code: 'ERR_INVALID_ARGUMENT' }

const noul: NoulQuestion = { type: 'noul', instructions: '?' }
const choice: ChoiceQuestion = { type: 'choice', criteria: { a: null, b: null, c: null } }
const score: ScoreQuestion = { type: 'score', criteria: ['low', true, { x: 1 }] }

t.test('softmax restores the proportions', async (t) => {
  const p = softmax([Math.log(0.3), Math.log(0.1)])
  t.ok(near(p[0]!, 0.75, 1e-15) && near(p[1]!, 0.25, 1e-15))
})

t.test('softmax does not depend on a shift of all logits', async (t) => {
  for (const shift of [-1e6, -50, 50, 1e6]) {
    const p = softmax([shift, shift + 1])
    t.ok(near(p[1]!, 1 / (1 + Math.exp(-1)), 1e-12), String(shift))
  }
})

t.test('an impossible option has probability 0', async (t) => {
  t.strictSame([...softmax([-Infinity, 3])], [0, 1])
})

t.test('probabilities of random logits sum to 1', async (t) => {
  const random = createRandom(4)
  for (let i = 0; i < 500; i++) {
    const logits = Array.from({ length: 1 + random.integer(255) }, () => 80 * random.next() - 40)
    const p = softmax(Float32Array.from(logits), 0.1 + 3 * random.next())
    if (!near(sum(p), 1, 1e-9) || p.some((x) => !(x >= 0 && x <= 1))) t.fail(String(logits))
  }
})

t.test('invalid distributions are refused', async (t) => {
  for (const logits of [[], [NaN], [1, NaN], [Infinity], [-Infinity, -Infinity]]) {
    t.throws(() => softmax(logits), refused, String(logits))
  }
  for (const logits of [[NaN], [1, NaN], [Infinity]]) {
    t.throws(() => logSumExp(logits), refused, String(logits))
  }
  for (const temperature of [0, -1, NaN, Infinity]) {
    t.throws(() => softmax([1], temperature), refused, String(temperature))
  }
})

t.test('logSumExp adds probabilities', async (t) => {
  t.ok(near(logSumExp([Math.log(0.25), Math.log(0.5)]), Math.log(0.75), 1e-15))
  t.equal(logSumExp([5]), 5)
  t.equal(logSumExp([1000, -Infinity]), 1000)
  t.equal(logSumExp([-Infinity]), -Infinity)
})

t.test('the earliest option wins a tie', async (t) => {
  t.equal(argMax([0.2, 0.4, 0.4]), 1)
  t.equal(choiceAnswer(choice, [0.4, 0.4, 0.2]).choice, 'a')
})

t.test('confidence is never below 0 or above 1', async (t) => {
  const random = createRandom(9)
  for (let i = 0; i < 500; i++) {
    const p = softmax(Array.from({ length: 1 + random.integer(9) }, () => 6 * random.next()))
    for (const c of [choiceConfidence(p), scoreConfidence(p)]) {
      if (!(c >= 0 && c <= 1)) t.fail(String(p))
    }
  }
})

t.test('a noul is the probability of yes', async (t) => {
  t.strictSame(noulAnswer([0.2, 0.8]), { type: 'noul', noul: 0.8 })
})

t.test('a score is the expected level, with the given levels', async (t) => {
  const raw = new RawNumber('1.0')
  const answer = scoreAnswer({ ...score, criteria: ['low', raw, true] }, [0.25, 0.25, 0.5])
  t.equal(answer.score, 1.25)
  t.strictSame(answer.probabilities, { 0: 0.25, 1: 0.25, 2: 0.5 })
  t.equal(answer.legend['1'], '1.0', 'as clients take it')
  t.strictSame(Object.keys(answer.legend), ['0', '1', '2'])
})

const labels = ({ forms, ...measured }: Measurement & { forms: readonly number[] }) =>
  optionLogits({ kind: 'labels', forms }, [measured])

t.test('forms of one option count together', async (t) => {
  const logits = [0.1, 0.2, 0.3, 0.4].map(Math.log)
  const measured = labels({ logits, forms: [1, 3], vocabulary: Math.log(2) })
  const answer = answerOf(noul, measured, { temperature: 1, evidence: true })
  t.match(answer, { type: 'noul' })
  if (answer.type !== 'noul') return
  t.ok(near(answer.noul, 0.9, 1e-12))
  t.ok(near(answer.evidence!.label_mass, 0.5, 1e-12))
  t.ok(near(answer.evidence!.logits[1]!, Math.log(0.9), 1e-12))
})

t.test('a bias moves yes before the temperature, in the mean and in each order', async (t) => {
  const orders = [
    [0, 1],
    [0, -1],
  ]
  const measured = { logits: [0, 0], labelMass: 1, orders }
  const { noul: p, evidence } = answerOf(noul, measured, {
    ...{ temperature: 2, bias: 3, evidence: true },
  }) as NoulAnswer
  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))
  t.ok(near(p, sigmoid(3 / 2), 1e-15))
  t.strictSame(evidence!.logits, [0, 0])
  t.ok(near(evidence!.order_spread!, sigmoid(4 / 2) - sigmoid(2 / 2), 1e-15))
})

t.test('a single option is certain', async (t) => {
  const measured = labels({ logits: [], forms: [], vocabulary: 0 })
  const options = { temperature: 3, evidence: true }
  t.strictSame(answerOf({ type: 'choice', criteria: { a: null } }, measured, options), {
    type: 'choice',
    choice: 'a',
    probabilities: { a: 1 },
    confidence: 1,
    evidence: { label_mass: 1, logits: [0], temperature: 3 },
  })
  t.match(answerOf({ type: 'score', criteria: ['x'] }, measured, options), {
    score: 0,
    confidence: 1,
  })
})

/**
 * The default model's answers to everyday requests, which were written before it was trained; only
 * the README's first request was chosen later.
 *
 * Needs the built addon; the model is in the package, so nothing here is ever skipped. A right
 * answer is the likeliest one, sure beyond .6; of a score, the expected level within half a level.
 * Known wrong answers are in `todo`, and are counted as to do, not as passed.
 */
import t from 'tap'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, DecideRequest } from '../../src/decide/types.js'
import { defaultModelPath } from '../../src/models/default-model.js'
import { open } from '../../src/open.js'
import { packageRoot } from '../../src/package-root.js'

interface Example extends DecideRequest {
  readonly about: string
  readonly expected: Readonly<Record<string, boolean | string | number>>
  readonly todo?: readonly string[]
}

const least = 0.6
const examples = JSON.parse(
  readFileSync(join(packageRoot, 'test', 'fixtures', 'everyday.json'), 'utf8'),
) as readonly Example[]

const oi = await open()
t.teardown(() => oi.close())

for (const { about, state, questions, expected, todo = [] } of examples) {
  void t.test(about, async (t) => {
    const { answers } = await oi.decide({ state, questions })
    for (const [name, right] of Object.entries(expected)) {
      const answer = answers[name]!
      const shown = `${name}: ${String(right)}, got ${JSON.stringify(answer)}`
      t.ok(isRight(answer, right), shown, todo.includes(name) ? { todo: true } : {})
    }
  })
}

function isRight(answer: Answer, right: boolean | string | number): boolean {
  if (answer.type === 'score') return Math.abs(answer.score - Number(right)) <= 0.5
  return probabilityOf(answer, right) > least
}

function probabilityOf(answer: Exclude<Answer, { type: 'score' }>, right: unknown): number {
  if (answer.type === 'choice') return answer.probabilities[String(right)] ?? NaN
  return right === true ? answer.noul : 1 - answer.noul
}

t.test('its file leaves room for the rest of an installation, under 60 MB', async (t) => {
  t.ok(statSync(defaultModelPath).size < 22e6)
})

t.test('a decision has the documented form, and an invalid request is refused', async (t) => {
  const questions = { q: { type: 'noul', instructions: 'Is it?' } } as const
  t.strictSame(Object.keys(await oi.decide({ state: 'x', questions })), [
    'model',
    'answers',
    'usage',
    'latency_ms',
    'cached_tokens',
    'timings',
  ])
  const noText = { state: 'x', questions: { q: { type: 'noul' } } } as const
  await t.rejects(oi.decide(noText), { code: 'ERR_BODY_INVALID', param: 'questions.q' })
})

t.test('255 options of four unknown words are answered', async (t) => {
  t.equal(oi.card.limits.max_options, 255)
  // Spelled from short tokens, like product names.
  const word = (i: number) => `qx${String.fromCharCode(97 + (i % 26))}z${i % 10}`
  const names = Array.from({ length: 255 }, (_, i) => {
    return [i, i + 1, i + 2].map(word).join(' ') + ` no${i}`
  })
  const criteria = Object.fromEntries(names.map((name) => [name, null]))
  const { answers } = await oi.decide({
    state: 'The customer asks for one of these.',
    questions: { q: { type: 'choice', instructions: 'Which?', criteria } },
  })
  const answer = answers['q']
  t.equal(answer.type === 'choice' && Object.keys(answer.probabilities).length, 255)
})

t.test('it answers about states as long as its card says, and refuses longer ones', async (t) => {
  const most = oi.card.limits.max_state_tokens
  t.equal(most, 4096)
  const questions = { q: { type: 'noul', instructions: 'Is it long?' } } as const
  // A word is one token.
  const stateOf = (tokens: number) => Array.from({ length: tokens }, () => 'rain').join(' ')
  const { usage } = await oi.decide({ state: stateOf(most - 64), questions })
  t.ok(usage.input_tokens > most - 64)
  await t.rejects(oi.decide({ state: stateOf(most + 1), questions }), {
    code: 'ERR_STATE_TOO_LONG',
    message: /the limit is 4096/,
  })
})

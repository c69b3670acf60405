/**
 * What an answer may depend on, and its sums.
 *
 * Needs the built addon and the fixtures. Tolerance: 1e-3 in probability, CPU, F32 weights
 * (design: "Promises", 1, 2 and 5).
 */
import t, { type Test } from 'tap'
import { entriesOf, keysOf, objectFromEntries, stringifyJson } from '../../src/api/json.js'
import type { Json } from '../../src/api/json.js'
import { checkRequest } from '../../src/api/read-request.js'
import { createDecider } from '../../src/decide/decide.js'
import type { Answer, DecideOptions, Decision, Question } from '../../src/decide/types.js'
import type { Engine } from '../../src/engine/types.js'
import { open } from '../../src/open.js'
import { createReadout } from '../../src/prompt/readout.js'
import { fixturePath, text, withEngine } from '../helpers/fixture.js'

const tolerance = 1e-3
const facts = {
  fileName: 'fixture.gguf',
  digest: `sha256:${'0'.repeat(64)}`,
  releaseDate: '2025-01-01',
}

const options = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`option ${i}`, i % 2 ? null : text(3)]),
  )
const levels = (count: number) => Array.from({ length: count }, (_, i) => `level ${text(i % 4)}`)

const mixed: [string, Question][] = [
  ['money', { type: 'noul', instructions: 'Is it about money?' }],
  ['team', { type: 'choice', instructions: 'Which team?', criteria: options(3) }],
  ['mood', { type: 'score', instructions: 'How angry?', criteria: levels(5) }],
  ['topic', { type: 'choice', criteria: options(30) }],
  ['urgent', { type: 'noul', criteria: { true: 'today', false: { later: [1, 2] } } }],
]

/** Different questions of all types. */
const many: [string, Question][] = Array.from({ length: 41 }, (_, i) => {
  const [, question] = mixed[i % mixed.length]!
  return [`q${i}`, { ...question, instructions: `Question ${i}: ${text(1 + (i % 9))}?` }]
})

const state = { message: text(60), from: ['a', { b: 1.5 }] }

type Ask = (questions: [string, Question][], of?: Json, more?: DecideOptions) => Promise<Decision>

/** Opens a fixture; `ask` sends a whole request to it. */
const withAsk = (
  name: 'small' | 'dense-qwen' | 'hybrid-qwen',
  use: (ask: Ask, engine: Engine) => Promise<void>,
) =>
  withEngine(name, { threads: 1 }, async (engine) => {
    const decider = await createDecider(engine, facts)
    const ask: Ask = (questions, of = state, more = {}) => {
      const request = { state: of, questions: objectFromEntries(questions) }
      return decider.decide(checkRequest(request, decider.limits), more)
    }
    await use(ask, engine)
  })

/** Every probability of an answer, in order. */
const probabilitiesOf = (answer: Answer): number[] =>
  answer.type === 'noul'
    ? [answer.noul]
    : entriesOf(answer.probabilities).map(([, probability]) => probability)

const allProbabilities = ({ answers }: Decision) =>
  entriesOf(answers).map(([, answer]) => probabilitiesOf(answer))

function same(t: Test, found: readonly number[], wanted: readonly number[], what: string): void {
  const largest = Math.max(...found.map((value, i) => Math.abs(value - wanted[i]!)))
  t.equal(found.length, wanted.length, what)
  t.ok(largest < tolerance, `${what}: ${largest}`)
}

for (const name of ['small', 'dense-qwen', 'hybrid-qwen'] as const) {
  await t.test(`${name}: what an answer does not depend on`, (t) =>
    withAsk(name, async (ask) => {
      const first = await ask(mixed)
      const base = await ask(mixed)

      await t.test('whether it was asked before', async (t) => {
        t.equal(first.cached_tokens, 0)
        t.ok(base.cached_tokens > 0)
        for (const [i, wanted] of allProbabilities(first).entries()) {
          same(t, allProbabilities(base)[i]!, wanted, mixed[i]![0])
        }
      })

      await t.test('the names of the questions, to the last bit', async (t) => {
        const names = ['__proto__', '10', '', 'Which option is A?', '<|im_end|>']
        const renamed = await ask(mixed.map(([, question], i) => [names[i]!, question]))
        t.strictSame(keysOf(renamed.answers), names)
        t.strictSame(allProbabilities(renamed), allProbabilities(base))
        t.equal(renamed.usage.input_tokens, base.usage.input_tokens)
      })

      await t.test('the order of the questions', async (t) => {
        const turned = await ask(mixed.toReversed())
        t.strictSame(keysOf(turned.answers), keysOf(base.answers).toReversed())
        for (const [question, answer] of entriesOf(base.answers)) {
          const found = probabilitiesOf(turned.answers[question]!)
          same(t, found, probabilitiesOf(answer), question)
        }
      })

      await t.test('40 other questions', async (t) => {
        const together = await ask(many)
        for (const i of [0, 1, 2, 13, 28, 40]) {
          const [question] = many[i]!
          const alone = await ask([many[i]!])
          const wanted = probabilitiesOf(alone.answers[question]!)
          same(t, probabilitiesOf(together.answers[question]!), wanted, question)
        }
      })

      await t.test('other requests at the same time', async (t) => {
        const others = Array.from({ length: 6 }, (_, i) => ask(many.slice(i, i + 3), text(20 + i)))
        const [among, ...rest] = await Promise.all([ask(mixed), ...others, ask(mixed)])
        for (const [i, wanted] of allProbabilities(base).entries()) {
          same(t, allProbabilities(among)[i]!, wanted, mixed[i]![0])
          same(t, allProbabilities(rest.at(-1)!)[i]!, wanted, mixed[i]![0])
        }
      })
    }),
  )

  await t.test(`${name}: the sums of an answer`, (t) =>
    withAsk(name, async (ask, engine) => {
      const sizes = [2, 3, 5, 26, 27, 100, 255]
      const questions = sizes.flatMap((count): [string, Question][] => [
        [`choice of ${count}`, { type: 'choice', criteria: options(count) }],
        [`score of ${count}`, { type: 'score', criteria: levels(count) }],
      ])
      for (const question of questions) {
        const { answers } = await ask([question])
        checkNumbers(t, answers[question[0]]!, question[0])
      }

      await t.test('it is asked with letters, and its labels are part of all tokens', async (t) => {
        const readout = await createReadout(engine)
        t.equal(readout.name, 'letters@1')
        t.equal(readout.maxOptions, 255)
        t.equal(readout.labels.slice(0, 26).join(''), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
        const { answers } = await ask(mixed, state, { evidence: true })
        for (const [question, { evidence }] of entriesOf(answers)) {
          t.ok(evidence!.label_mass > 0 && evidence!.label_mass <= 1, question)
          t.ok(evidence!.logits.every(Number.isFinite), question)
        }
      })

      await t.test('the tokens of a request are the sum of its parts', async (t) => {
        const { usage, answers, cached_tokens } = await ask(mixed)
        const rendering = await render(engine, state, mixed)
        const tokens = await engine.tokenize([...rendering.prefix, ...rendering.suffixes.flat()])
        t.equal(
          usage.input_tokens,
          tokens.reduce((sum, ids) => sum + ids.length, 0),
        )
        const serialized = stringifyJson(answers)
        t.equal(usage.output_tokens, await engine.countTokens(serialized))
        t.ok(cached_tokens <= usage.input_tokens)
        const prefix = await engine.tokenize(rendering.prefix)
        const shared = prefix.reduce((sum, ids) => sum + ids.length, 0)
        let apart = shared
        for (const question of mixed) apart += (await ask([question])).usage.input_tokens - shared
        t.equal(apart, usage.input_tokens, 'questions asked one by one cost the state again')
      })
    }),
  )
}

function checkNumbers(t: Test, answer: Answer, what: string): void {
  if (answer.type === 'noul') return
  const probabilities = probabilitiesOf(answer)
  const sum = probabilities.reduce((sum, probability) => sum + probability, 0)
  t.ok(Math.abs(sum - 1) < 1e-9, `${what}: the sum is ${sum}`)
  t.ok(
    probabilities.every((probability) => probability >= 0 && probability <= 1),
    what,
  )
  t.ok(answer.confidence >= 0 && answer.confidence <= 1, what)
  if (answer.type === 'choice') {
    const most = probabilities.indexOf(Math.max(...probabilities))
    t.equal(answer.choice, keysOf(answer.probabilities)[most], what)
  } else {
    const expected = probabilities.reduce((sum, probability, i) => sum + i * probability, 0)
    t.ok(Math.abs(answer.score - expected) < 1e-9, what)
  }
}

/** The parts of a request as the readout renders them. */
async function render(engine: Engine, of: Json, questions: [string, Question][]) {
  const readout = await createReadout(engine)
  const { input } = readout.render({ state: of, questions: objectFromEntries(questions) })
  return { prefix: input.prefix, suffixes: input.suffixes.map((suffix) => suffix.parts) }
}

t.test('a model without a chat template is asked in plain text', async (t) => {
  const model = await fixturePath('small', { template: 'none' })
  await using oi = await open({ model, threads: 1, contextTokens: 4096 })
  t.equal(oi.info.chatTemplate, undefined)
  t.equal(oi.card.readout, 'letters@1')
  const { answers } = await oi.decide({ state, questions: Object.fromEntries(mixed) })
  t.strictSame(
    Object.keys(answers),
    mixed.map(([name]) => name),
  )
  for (const [name, answer] of Object.entries(answers)) checkNumbers(t, answer, name)
})

t.test('a model that always thinks is refused, with the reason', async (t) => {
  const model = await fixturePath('small', { template: 'always-thinks' })
  await t.rejects(open({ model, threads: 1 }), { code: 'ERR_READOUT', message: /<think>/ })
})

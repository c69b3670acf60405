/**
 * The labels and the sums of an answer. What an answer does not depend on, and its numbers: the rules
 * of conformance, in conformance.test.ts, and test/native/promises.test.ts.
 *
 * Needs the built addon and the fixtures.
 */
import t from 'tap'
import { entriesOf, objectFromEntries, stringifyJson } from '../../src/api/json.js'
import { checkRequest } from '../../src/api/read-request.js'
import { createDecider } from '../../src/decide/decide.js'
import type { DecideOptions, Decision, Question } from '../../src/decide/types.js'
import type { Engine } from '../../src/engine/types.js'
import { open } from '../../src/open.js'
import { createReadout } from '../../src/prompt/readout.js'
import { fixturePath, text, withEngine } from '../helpers/fixture.js'

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

const state = { message: text(60), from: ['a', { b: 1.5 }] }

type Ask = (questions: [string, Question][], more?: DecideOptions) => Promise<Decision>

/** Opens a fixture; `ask` sends a whole request to it. */
const withAsk = (
  name: 'small' | 'dense-qwen' | 'hybrid-qwen',
  use: (ask: Ask, engine: Engine) => Promise<void>,
) =>
  withEngine(name, { threads: 1 }, async (engine) => {
    const decider = await createDecider(engine, facts)
    const ask: Ask = (questions, more = {}) => {
      const request = { state, questions: objectFromEntries(questions) }
      return decider.decide(checkRequest(request, decider.limits), more)
    }
    await use(ask, engine)
  })

for (const name of ['small', 'dense-qwen', 'hybrid-qwen'] as const) {
  await t.test(name, (t) =>
    withAsk(name, async (ask, engine) => {
      await t.test('it is asked with letters, and its labels are part of all tokens', async (t) => {
        const readout = await createReadout(engine)
        t.equal(readout.name, 'letters@1')
        t.equal(readout.maxOptions, 255)
        t.equal(readout.labels.slice(0, 26).join(''), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
        const { answers } = await ask(mixed, { evidence: true })
        for (const [question, { evidence }] of entriesOf(answers)) {
          t.ok(evidence!.label_mass > 0 && evidence!.label_mass <= 1, question)
          t.ok(evidence!.logits.every(Number.isFinite), question)
        }
      })

      await t.test('the tokens of a request are the sum of its parts', async (t) => {
        const { usage, answers, cached_tokens } = await ask(mixed)
        const readout = await createReadout(engine)
        const asked = { state, questions: objectFromEntries(mixed) }
        const { prefix, suffixes } = readout.render(asked).input
        const own = suffixes.flatMap(({ parts }) => parts)
        const tokens = await engine.tokenize([...prefix, ...own])
        t.equal(
          usage.input_tokens,
          tokens.reduce((sum, ids) => sum + ids.length, 0),
        )
        const serialized = stringifyJson(answers)
        t.equal(usage.output_tokens, await engine.countTokens(serialized))
        t.ok(cached_tokens <= usage.input_tokens)
        const before = await engine.tokenize(prefix)
        const shared = before.reduce((sum, ids) => sum + ids.length, 0)
        let apart = shared
        for (const question of mixed) apart += (await ask([question])).usage.input_tokens - shared
        t.equal(apart, usage.input_tokens, 'questions asked one by one cost the state again')
      })
    }),
  )
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
})

t.test('a model that always thinks is refused, with the reason', async (t) => {
  const model = await fixturePath('small', { template: 'always-thinks' })
  await t.rejects(open({ model, threads: 1 }), { code: 'ERR_READOUT', message: /<think>/ })
})

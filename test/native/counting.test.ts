/**
 * What is counted is what was sent: the state and each question once, whatever a readout does with
 * them. On every readout.
 *
 * Needs the built addon; fixtures are made on first use, the default model is in the package.
 */
import t from 'tap'
import { objectFromEntries } from '../../src/api/json.js'
import { createDecider } from '../../src/decide/decide.js'
import type { DecideOptions, Question } from '../../src/decide/types.js'
import type { Engine, PromptPart } from '../../src/engine/types.js'
import { defaultModelPath } from '../../src/models/default-model.js'
import { createReadout } from '../../src/prompt/readout.js'
import { fixturePath, openEngine, text } from '../helpers/fixture.js'
import { changedFixture } from '../helpers/hidden.js'
import { pointerKeys } from '../helpers/pointer.js'

const facts = { fileName: 'fixture.gguf', digest: 'sha256:', releaseDate: '2025-01-01' }
const options = { threads: 1, maxBacklogMs: 2 ** 31 }
const labels = ['joy', 'anger', 'neutral tone']

const questions: readonly Question[] = [
  { type: 'noul', instructions: 'Is it late?', criteria: { true: 'joy', false: 'anger' } },
  {
    type: 'choice',
    instructions: 'Which one is it?',
    criteria: objectFromEntries(labels.map((name) => [name, null])),
  },
  { type: 'score', instructions: 'How bad is it?', criteria: labels },
  { type: 'choice', instructions: 'And of one?', criteria: { joy: null } },
]

interface Case {
  readonly model: (folder: string) => string | Promise<string>
  readonly words?: number
  /** Whether the state is read again for each question. */
  readonly again?: true
}

const cases: Readonly<Record<string, Case>> = {
  'the default model': { model: () => defaultModelPath },
  letters: { model: () => fixturePath('small'), words: 500 },
  rank: { model: () => fixturePath('reranker'), words: 60, again: true },
  classes: { model: () => fixturePath('classifier'), words: 60 },
  similarity: { model: () => fixturePath('embedding'), words: 60 },
  prefix: { model: () => fixturePath('prefix'), words: 60 },
  pointer: {
    model: (folder) => changedFixture(folder, 'small', pointerKeys),
    words: 20,
    again: true,
  },
  'pointer with two options a pass': {
    model: (folder) =>
      changedFixture(folder, 'small', { ...pointerKeys, 'oi.pointer.pass_options': 2 }),
    words: 20,
    again: true,
  },
  ...Object.fromEntries(
    ['openjev', 'lev', 'nimble', 'pplx-decider', 'lfm2-d1'].map((decision) => {
      return [decision, { model: () => fixturePath('small', { decision }), words: 40 }]
    }),
  ),
}

for (const [name, { model, words = 100, again }] of Object.entries(cases)) {
  t.test(`${name}: a state is counted once, and each question as if it were alone`, async (t) => {
    const modelPath = await model(t.testdir())
    const engine = await openEngine({ ...options, modelPath, contextTokens: 4096 })
    t.teardown(() => engine.close())
    const decider = await createDecider(engine, facts)
    const state = text(words)
    const ask = (asked: readonly Question[], how: DecideOptions = {}) => {
      const named = asked.map((question, i) => [`q${i}`, question] as const)
      const request = { state, questions: objectFromEntries(named) }
      return decider.decide(request, { evidence: true, ...how })
    }
    const cost = async (asked: readonly Question[], how?: DecideOptions) =>
      (await ask(asked, how)).usage.input_tokens

    const stateTokens = await tokensOfState(engine, state, questions[0]!)
    const alone: number[] = []
    for (const question of questions) alone.push(await cost([question]))
    const own = alone.map((tokens) => tokens - stateTokens)
    t.comment(`the state ${stateTokens}, the questions ${own.join(', ')}`)
    t.ok(own.every((tokens) => tokens > 0 && tokens < 100))

    const all = own.reduce((sum, tokens) => sum + tokens, stateTokens)
    t.equal(await cost(questions), all, 'together')
    t.equal(await cost(questions), all, 'when it is known')
    for (const orders of [2, 'all'] as const) {
      t.equal(await cost(questions, { orders }), all, `in orders: ${orders}`)
    }
    const many = Array.from({ length: 64 }, (_, i): Question => {
      return { ...questions[1]!, instructions: `Which one is it of ${i}?` }
    })
    for (const count of [16, 64]) {
      const asked = many.slice(0, count)
      let expected = stateTokens
      for (const question of asked) expected += await tokensOfQuestion(engine, question)
      const { usage, evidence } = await ask(asked)
      t.equal(usage.input_tokens, expected, `${count} questions`)
      const { evaluated_tokens: evaluated, cached_tokens: cached } = evidence!
      if (again) t.ok(evaluated > count * stateTokens, 'the state was read for each of them')
      else t.ok(evaluated + cached <= expected + 2 * stateTokens + 64 * count)
      t.ok(evaluated > 0)
    }
  })
}

/** Tokens of the state and the template around it. */
async function tokensOfState(engine: Engine, state: string, question: Question): Promise<number> {
  const readout = await createReadout(engine)
  const { prefix } = readout.render({ state, questions: { q: question } }).input
  return countOf(engine, prefix)
}

/** Of its own, behind a state. */
async function tokensOfQuestion(engine: Engine, question: Question): Promise<number> {
  const readout = await createReadout(engine)
  const { suffixes } = readout.render({ state: '', questions: { q: question } }).input
  const counted = suffixes.map(({ parts, counts = parts }) => countOf(engine, counts))
  return (await Promise.all(counted)).reduce((sum, tokens) => sum + tokens, 0)
}

async function countOf(engine: Engine, parts: readonly PromptPart[]): Promise<number> {
  return (await engine.tokenize(parts)).reduce((sum, { length }) => sum + length, 0)
}

/**
 * `similarity@1`: an embedding model compares state and options, by llama.cpp's own pooling.
 *
 * Needs the built addon and fixtures. Expected embeddings are llama.cpp's, on its kernels; bound
 * 1e-3 relative.
 */
import t from 'tap'
import type { DecideRequest } from '../../src/decide/types.js'
import type { Engine } from '../../src/engine/types.js'
import { open } from '../../src/open.js'
import { createReadout } from '../../src/prompt/readout.js'
import { type FixtureName, fixturePath, text } from '../helpers/fixture.js'
import { optionLogits, refusesModel, renderedBy } from '../helpers/hidden.js'
import { type Changes, llamaPooled, marked, pooledModel, withPooled } from '../helpers/pooled.js'
import { relativeError } from '../helpers/reference.js'

const request: DecideRequest = {
  state: text(30),
  questions: {
    team: {
      type: 'choice',
      instructions: 'It is about',
      criteria: { billing: 'invoices and payments', support: null },
    },
    mood: { type: 'score', criteria: ['angry', 'content', ''] },
    refund: { type: 'noul', criteria: { true: 'money is asked back', false: 'all is well' } },
    one: { type: 'choice', criteria: { only: null } },
  },
}
const options = [
  'It is about billing: invoices and payments',
  'It is about support',
  'angry',
  'content',
  'level 3 of 3',
  'all is well',
  'money is asked back',
]

const bert = (words: string) => marked('[CLS]', words, '[SEP]')
const kinds: [string, FixtureName, Changes, number, typeof bert][] = [
  ['the mean', 'embedding', {}, 20, bert],
  ['the first token', 'embedding', { meta: { 'bert.pooling_type': 2 } }, 20, bert],
  ['the last token', 'embedding', { meta: { 'bert.pooling_type': 3 } }, 20, bert],
  ['a scale of the file', 'embedding', { meta: { 'oi.similarity.scale': 7.5 } }, 7.5, bert],
  [
    'a template of the file',
    'embedding',
    { meta: { 'oi.similarity.template': '[CLS][MASK]{text}[SEP]' } },
    20,
    (words) => marked('[CLS]', '[MASK]', words, '[SEP]'),
  ],
  [
    'a decoder, its last token',
    'small',
    { meta: { 'qwen3.pooling_type': 3 } },
    20,
    (words) => marked(words),
  ],
]

for (const [name, fixture, changes, scale, pass] of kinds) {
  t.test(`logits are scaled cosines of llama.cpp’s embeddings: ${name}`, (t) =>
    withPooled(
      t.testdir(),
      fixture,
      changes,
      { kernels: 'off', cacheType: 'f32' },
      async (engine, path) => {
        const actual = await logitsOf(engine, request)
        const passes = [request.state as string, ...options].map(pass)
        const [state, ...others] = await llamaPooled(path, engine, passes)
        const expected = others.map((option) => scale * cosine(state!, option))
        t.ok(relativeError(actual, expected) < 1e-3, `${relativeError(actual, expected)}`)
        t.ok(Math.max(...expected) - Math.min(...expected) > 0.1, 'options differ')
      },
    ),
  )
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, i) => sum + value * y[i]!, 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

const logitsOf = async (engine: Engine, asked: DecideRequest) =>
  (await optionLogits(engine, asked)).flat()

for (const deterministic of [false, true]) {
  t.test(`answers do not depend on other requests${deterministic ? ', in every bit' : ''}`, (t) =>
    withPooled(t.testdir(), 'embedding', {}, { deterministic }, async (engine) => {
      const alone = await logitsOf(engine, request)
      const company = await Promise.all(
        [30, 5, 80, 30].map((words) => logitsOf(engine, { ...request, state: text(words) })),
      )
      for (const logits of [company[0]!, company[3]!]) {
        if (deterministic) t.strictSame(logits, alone)
        else t.ok(relativeError(logits, alone) < 1e-3)
      }
      t.ok(relativeError(company[1]!, alone) > 1e-3, 'another state has other answers')
    }),
  )
}

t.test('the state is read once, each text once, and 255 options in batches', (t) =>
  withPooled(t.testdir(), 'embedding', {}, {}, async (engine) => {
    const names = Array.from({ length: 255 }, (_, i) => `${i} ${text(2)}`)
    const criteria = Object.fromEntries(names.map((name) => [name, null]))
    const one = { type: 'choice', criteria } as const
    const input = await renderedBy(engine, { state: text(40), questions: { a: one, b: one } })
    const output = await engine.score(input)
    t.ok([...output.logits].every(Number.isFinite))
    const own = input.suffixes.slice(0, 255).flatMap(({ parts }) => parts)
    const ids = await engine.tokenize([...input.prefix, ...own])
    const tokens = ids.reduce((sum, { length }) => sum + length, 0)
    t.equal(engine.stats().evaluatedTokens, tokens)
    t.equal(output.evaluatedTokens, tokens)
    t.ok(engine.stats().steps < 30, `${engine.stats().steps} steps`)
  }),
)

t.test('the card says that it is a fallback; a noul needs texts', async (t) => {
  await using opened = await open({ model: await fixturePath('embedding'), threads: 1 })
  t.equal(opened.card.readout, 'similarity@1')
  t.match(opened.card.description, /as a fallback: it knows nothing of negation/)
  const { answers } = await opened.decide(request, { evidence: true, orders: 'all' })
  const { refund } = answers
  if (refund?.type !== 'noul') throw new Error('a noul was expected')
  const [no, yes] = refund.evidence!.logits as [number, number]
  t.ok(Math.abs(refund.noul - 1 / (1 + Math.exp(no - yes))) < 1e-6)
  for (const criteria of [undefined, { true: 'x' }, { false: 'x' }]) {
    const q = { type: 'noul', instructions: 'Is it so?', ...(criteria && { criteria }) } as const
    await t.rejects(opened.decide({ state: 'S', questions: { q } }), {
      code: 'ERR_REQUEST_UNACCEPTABLE',
      param: 'questions.q.criteria',
      message: /give criteria\.true and criteria\.false/,
    })
  }
})

t.test('a state or an option over the limit is refused with the numbers', (t) =>
  withPooled(t.testdir(), 'embedding', {}, {}, async (engine) => {
    await t.rejects(logitsOf(engine, { ...request, state: text(600) }), {
      code: 'ERR_STATE_TOO_LONG',
      message: /^the state takes 602 tokens/,
    })
    const criteria = { [text(700)]: null, short: null }
    const questions: DecideRequest['questions'] = { q: { type: 'choice', criteria } }
    await t.rejects(logitsOf(engine, { state: 'S', questions }), {
      code: 'ERR_STATE_TOO_LONG',
      message: /^an option with its question takes 702 tokens .* limit is 512$/,
    })
  }),
)

t.test('files that cannot be compared are refused by name', async (t) => {
  const cases: [FixtureName, Changes, RegExp][] = [
    [
      'embedding',
      { meta: { 'bert.pooling_type': 0, 'oi.readout': 'similarity@1' } },
      /bert\.pooling_type: expected 1, 2 or 3/,
    ],
    ['embedding', { meta: { 'bert.pooling_type': 0 } }, /no pooling_type from 1 to 4/],
    ['embedding', { meta: { 'oi.similarity.scale': -0.5 } }, /scale: expected a number over 0/],
    ['hybrid', { meta: { 'qwen35.pooling_type': 3 } }, /qwen35 is not run for its hidden states/],
  ]
  for (const [fixture, changes, message] of cases) {
    const modelPath = await pooledModel(t.testdir(), fixture, changes)
    await refusesModel(t, modelPath, message)
  }
  const meta = { 'oi.similarity.template': '[CLS][SEP]' }
  await withPooled(t.testdir(), 'embedding', { meta }, {}, (engine) =>
    t.rejects(createReadout(engine), {
      message: /^oi\.similarity\.template: expected {text} once$/,
    }),
  )
})

/**
 * `classes@1`: a classifier answers with its own labels, as llama.cpp does.
 *
 * Needs the built addon and fixtures. Expected outputs are llama.cpp's own, on its kernels; bound
 * 1e-3 relative.
 */
import t from 'tap'
import type { DecideRequest } from '../../src/decide/types.js'
import { open } from '../../src/open.js'
import { createReadout } from '../../src/prompt/readout.js'
import { fixturePath, text } from '../helpers/fixture.js'
import { refusesModel, renderedBy, suffixLogits } from '../helpers/hidden.js'
import { llamaPooled, marked, pooledModel, withPooled } from '../helpers/pooled.js'
import { relativeError } from '../helpers/reference.js'

/** Of the fixture, in the order of its outputs. */
const labels = ['anger', 'Fear', 'joy', 'sadness', 'neutral tone']

const request: DecideRequest = {
  state: text(30),
  questions: {
    mood: {
      type: 'choice',
      instructions: 'Not read.',
      criteria: { JOY: 'nor this', 'Neutral Tone': null, anger: '' },
    },
    all: { type: 'choice', criteria: Object.fromEntries(labels.map((label) => [label, null])) },
    degree: { type: 'score', criteria: ['sadness', 'joy'] },
    afraid: { type: 'noul', criteria: { true: 'fear' } },
    one: { type: 'choice', criteria: { fear: null } },
  },
}

const softmax = (logits: readonly number[]) => {
  const most = Math.max(...logits)
  const all = logits.map((logit) => Math.exp(logit - most))
  const sum = all.reduce((one, other) => one + other, 0)
  return all.map((one) => one / sum)
}

t.test('logits are those of llama.cpp, from one pass for all questions', (t) =>
  withPooled(t.testdir(), 'classifier', {}, { kernels: 'off' }, async (engine, path) => {
    const input = await renderedBy(engine, request)
    const actual = await suffixLogits(engine, input)
    const pass = marked('[CLS]', request.state as string, '[SEP]')
    const [outputs] = await llamaPooled(path, engine, [pass])
    const of = (...names: string[]) => names.map((name) => outputs![labels.indexOf(name)]!)
    const expected = [
      of('joy', 'neutral tone', 'anger'),
      of(...labels),
      of('sadness', 'joy'),
      of('anger', 'joy', 'sadness', 'neutral tone', 'Fear'),
      [],
    ]
    const lengths = actual.map(({ length }) => length)
    t.same(
      lengths,
      expected.map(({ length }) => length),
    )
    t.ok(relativeError(actual.flat(), expected.flat()) < 1e-3)
    t.ok(Math.max(...outputs!) - Math.min(...outputs!) > 0.5, 'labels differ')
    const [ids] = [await engine.tokenize(pass)]
    const tokens = ids.reduce((sum, { length }) => sum + length, 0)
    t.equal(engine.stats().evaluatedTokens, tokens)
    const output = await engine.score(input)
    t.equal(output.prefixTokens, tokens)
    t.equal(output.evaluatedTokens, tokens)
  }),
)

t.test(
  'a choice is the softmax over its labels, a noul one label against all others',
  async (t) => {
    const model = await fixturePath('classifier')
    await using opened = await open({ model, threads: 1 })
    t.equal(opened.card.readout, 'classes@1')
    t.equal(opened.card.limits.max_options, 5)
    const { answers, usage } = await opened.decide(request, { evidence: true })
    const { all, mood, degree, afraid } = answers
    if (all?.type !== 'choice' || mood?.type !== 'choice') throw new Error('choices were expected')
    if (degree?.type !== 'score' || afraid?.type !== 'noul') throw new Error('another type')
    const logits = all.evidence!.logits
    const near = (actual: readonly number[], expected: readonly number[], name: string) =>
      t.ok(relativeError(actual, expected) < 1e-5, name)
    const every = softmax(logits)
    near(Object.values(all.probabilities), every, 'all labels')
    near(Object.values(mood.probabilities), softmax([logits[2]!, logits[4]!, logits[0]!]), 'some')
    near(Object.values(degree.probabilities), softmax([logits[3]!, logits[2]!]), 'levels')
    near([afraid.noul], [every[1]!], 'a noul')
    near([mood.evidence!.label_mass], [every[2]! + every[4]! + every[0]!], 'mass of the labels')
    t.equal(
      mood.evidence!.rank,
      every.filter((p) => p > Math.max(every[2]!, every[4]!, every[0]!)).length,
    )
    t.ok(Math.abs(all.evidence!.label_mass - 1) < 1e-5)
    t.ok(usage.input_tokens < 90, 'the state is counted once')
  },
)

const two = (no: string, yes: string) => ({
  meta: { 'bert.classifier.output_labels': [no, yes] },
  rows: { 'cls.output.weight': 2, 'cls.output.bias': 2 },
})

for (const [no, yes] of [
  ['No', 'YES'],
  ['false', 'true'],
] as const) {
  t.test(`the labels ${no} and ${yes} answer any noul`, (t) =>
    withPooled(t.testdir(), 'classifier', two(no, yes), {}, async (engine) => {
      const questions: DecideRequest['questions'] = {
        any: { type: 'noul', instructions: 'Is it so?' },
        turned: { type: 'noul', criteria: { true: no } },
      }
      const input = await renderedBy(engine, { state: 'A state.', questions })
      const [any, turned] = await suffixLogits(engine, input)
      t.same(
        input.suffixes.map(({ candidates }) => [...candidates]),
        [
          [0, 1],
          [1, 0],
        ],
      )
      t.same(any, turned!.toReversed())
      t.not(any![0], any![1])
    }),
  )
}

t.test('a pair of yes and no is a reranker if the file has a template for pairs', (t) =>
  withPooled(
    t.testdir(),
    'classifier',
    {
      ...two('no', 'yes'),
      meta: {
        ...two('no', 'yes').meta,
        'tokenizer.chat_template.rerank': '[CLS]{query}[SEP]{document}',
      },
    },
    {},
    async (engine, path) => {
      const readout = await createReadout(engine)
      t.equal(readout.name, 'rank@1')
      const questions: DecideRequest['questions'] = { q: { type: 'noul', instructions: 'wet' } }
      const input = readout.render({ state: 'rain', questions }).input
      const [[score]] = (await suffixLogits(engine, input)) as [[number]]
      const [outputs] = await llamaPooled(path, engine, [marked('[CLS]', 'wet', '[SEP]', 'rain')])
      t.ok(Math.abs(score - (outputs![1]! - outputs![0]!)) < 1e-2, 'yes against no')
    },
  ),
)

const refused: [string, DecideRequest['questions'][string], string, RegExp][] = [
  [
    'an option',
    { type: 'choice', criteria: { joy: null, delight: null } },
    'questions.q.criteria.delight',
    /expected a label of the model \("anger", "Fear", "joy", "sadness", "neutral tone"\), got "delight"/,
  ],
  [
    'a level',
    { type: 'score', criteria: ['joy', 'a bit'] },
    'questions.q.criteria[1]',
    /got "a bit"/,
  ],
  [
    'a noul',
    { type: 'noul', criteria: { true: 'glad' } },
    'questions.q.criteria.true',
    /got "glad"/,
  ],
  ['a noul without one', { type: 'noul' }, 'questions.q.criteria.true', /got ""/],
  [
    'the only option',
    { type: 'choice', criteria: { x: null } },
    'questions.q.criteria.x',
    /got "x"/,
  ],
  [
    'a label twice',
    { type: 'choice', criteria: { joy: '', Joy: '' } },
    'questions.q.criteria.Joy',
    /twice/,
  ],
]

t.test('what is no label is refused by name, with the labels', (t) =>
  withPooled(t.testdir(), 'classifier', {}, {}, async (engine) => {
    const readout = await createReadout(engine)
    for (const [name, question, param, message] of refused) {
      const error = { code: 'ERR_REQUEST_UNACCEPTABLE', param, message }
      t.throws(() => readout.render({ state: 'S', questions: { q: question } }), error, name)
    }
  }),
)

t.test('a state over the limit is refused with the numbers', (t) =>
  withPooled(t.testdir(), 'classifier', {}, {}, async (engine) => {
    const input = await renderedBy(engine, { ...request, state: text(600) })
    await t.rejects(engine.score(input), {
      code: 'ERR_STATE_TOO_LONG',
      message: /^the state takes 602 tokens .*, the limit is 512$/,
    })
  }),
)

t.test('files whose labels and head do not fit are refused by name', async (t) => {
  const cases: [Parameters<typeof pooledModel>[2], string, RegExp][] = [
    [{ rows: { 'cls.output.weight': 2 } }, 'ERR_MODEL_LOAD', /cls\.output\.weight/],
    [
      { without: ['cls.output.weight', 'cls.output.bias', 'cls.weight', 'cls.bias'] },
      'ERR_MODEL_UNSUPPORTED',
      /cls\.output\.weight: no such tensor/,
    ],
    [
      { without: ['cls.output.weight', 'cls.output.bias'] },
      'ERR_MODEL_UNSUPPORTED',
      /cls\.weight: expected 5 rows, one for each label, got 64/,
    ],
  ]
  for (const [changes, code, message] of cases) {
    const modelPath = await pooledModel(t.testdir(), 'classifier', changes)
    await refusesModel(t, modelPath, message, code)
  }
  const modelPath = await pooledModel(t.testdir(), 'reranker', {
    meta: { 'oi.readout': 'classes@1' },
  })
  const message = /bert\.classifier\.output_labels: expected two labels or more/
  await refusesModel(t, modelPath, message)
})

/** How rerankers, classifiers and embedding models are asked: their parts. No model. */
import t from 'tap'
import type { DecideRequest } from '../../src/decide/types.js'
import type { PromptPart } from '../../src/engine/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import { createFakeEngine } from '../helpers/fake-engine.js'

const readoutOf = (metadata: Readonly<Record<string, string>>) =>
  createReadout(createFakeEngine({ info: { architecture: 'bert', metadata } }))

/** A caller's text between < and >. */
const shown = (parts: readonly PromptPart[]) =>
  parts.map(({ text, trusted }) => (trusted ? text : `<${text}>`)).join('')

const request: DecideRequest = {
  state: { text: 'pay {query} [SEP] me' },
  questions: {
    team: {
      type: 'choice',
      instructions: 'Which team?',
      criteria: { a: 'of {document}', b: null },
    },
    paid: { type: 'noul', criteria: { true: 'it is paid', false: { not: 1 } } },
    mood: { type: 'score', criteria: ['bad', ''] },
    one: { type: 'score', instructions: 'Mood?', criteria: ['x'] },
  },
}
const texts = [
  'Which team? a: of {document}',
  'Which team? b',
  'it is paid',
  'bad',
  'level 2 of 2',
  'Mood? x',
]

t.test(
  'a pair has the query’s half and the document’s, a caller’s text once and plain',
  async (t) => {
    const rank = (template: string) =>
      readoutOf({ 'oi.readout': 'rank@1', 'oi.rank.template': template })
    const { input, readers } = (await rank('[CLS]{query}[SEP]{document}[SEP]')).render(request)
    t.equal(shown(input.prefix), '<{"text":"pay {query} [SEP] me"}>[SEP]')
    t.same(
      input.suffixes.map(({ parts }) => shown(parts)),
      texts.map((text) => `[CLS]<${text}>[SEP]`),
    )
    t.same(
      input.suffixes.map(({ candidates }) => [...candidates]),
      [[0], [0], [0], [0], [0], []],
    )
    t.same(
      readers.map(({ reading }) => reading),
      [
        { kind: 'scores', options: [0, 1] },
        { kind: 'scores', options: [null, 0] },
        { kind: 'scores', options: [0, 1] },
        { kind: 'labels', forms: [] },
      ],
    )
    const turned = (await rank('[CLS]{document}[SEP]{query}[SEP]')).render(request).input
    t.equal(shown(turned.prefix), '[CLS]<{"text":"pay {query} [SEP] me"}>[SEP]')
    t.equal(shown(turned.suffixes[2]!.parts), '<it is paid>[SEP]')
  },
)

t.test('white space of a template is tokenized with the text that it touches', async (t) => {
  const template = '<a>Query: {query}\n<b>: {document}<c>\n'
  const readout = await readoutOf({ 'oi.readout': 'rank@1', 'oi.rank.template': template })
  const { prefix, suffixes } = readout.render(request).input
  t.equal(shown(suffixes[2]!.parts), '<a>Query:< it is paid\n><b>:')
  t.equal(shown(prefix), '< {"text":"pay {query} [SEP] me"}><c>\n')
})

t.test('state and options are texts of their own for an embedding model', async (t) => {
  const metadata = {
    'oi.readout': 'similarity@1',
    'oi.similarity.template': '[CLS]{text}[SEP]',
    'oi.similarity.scale': '20',
  }
  const { input, readers } = (await readoutOf(metadata)).render(request)
  t.equal(shown(input.prefix), '[CLS]<{"text":"pay {query} [SEP] me"}>[SEP]')
  t.same(
    input.suffixes.map(({ parts }) => shown(parts)),
    [...texts.slice(0, 2), '{"not":1}', ...texts.slice(2)].map((text) => `[CLS]<${text}>[SEP]`),
  )
  t.same(readers[1]!.reading, { kind: 'scores', options: [0, 1] }, 'no before yes')
})

t.test('a classifier reads the state alone', async (t) => {
  const metadata = {
    'oi.readout': 'classes@1',
    'oi.classes.template': '[CLS]{text}[SEP]',
    'oi.classes.labels': '["no","A \\"quote\\"","yes"]',
  }
  const readout = await readoutOf(metadata)
  t.same(readout.labels, ['no', 'A "quote"', 'yes'])
  const questions: DecideRequest['questions'] = {
    q: { type: 'choice', instructions: 'Unread', criteria: { YES: 'unread', 'a "quote"': null } },
    y: { type: 'noul', criteria: { true: 'Yes', false: 'unread' } },
  }
  const { input, readers } = readout.render({ state: 'S', questions })
  t.equal(shown(input.prefix), '[CLS]<S>[SEP]')
  t.same(
    input.suffixes.map(({ parts, candidates }) => [parts.length, ...candidates]),
    [
      [0, 2, 1],
      [0, 0, 1, 2],
    ],
  )
  t.same(readers[1]!.reading, { kind: 'labels', forms: [2, 1] })
  const plain = { q: { type: 'noul', instructions: 'Is it?' } } as const
  t.throws(() => readout.render({ state: 'S', questions: plain }), {
    param: 'questions.q.criteria.true',
    message: /"no", "A \\"quote\\"", "yes"/,
  })
})

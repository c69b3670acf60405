/** How a model of hidden states is asked: its parts, and refusals. No model. */
import t from 'tap'
import { inspectionText } from '../../src/cli/models/inspection-text.js'
import type { DecideRequest } from '../../src/decide/types.js'
import type { PromptPart } from '../../src/engine/types.js'
import { inspectModel } from '../../src/models/inspect.js'
import { lettersOne } from '../../src/prompt/letters.js'
import { createReadout } from '../../src/prompt/readout.js'
import { createFakeEngine } from '../helpers/fake-engine.js'

const stateFirst = '[CLS]{state}[SEP]{question}[SEP]{options}[SEP]'
const engineOf = (metadata: Readonly<Record<string, string>> = {}) =>
  createFakeEngine({
    info: {
      architecture: 'qwen3',
      metadata: {
        'oi.readout': 'pointer@1',
        'oi.pointer.template': stateFirst,
        'oi.pointer.marker': '[MASK]',
        ...metadata,
      },
    },
  })
const encoder = createFakeEngine({
  info: { architecture: 'bert', metadata: { 'oi.readout': 'prefix@1' } },
})

/** A caller's text between < and >. */
const shown = (parts: readonly PromptPart[]) =>
  parts.map(({ text, trusted }) => (trusted ? text : `<${text}>`)).join('')

const request: DecideRequest = {
  state: { text: 'pay [MASK] me', n: 1 },
  questions: {
    team: {
      type: 'choice',
      instructions: 'Which [SEP] team?',
      criteria: { billing: 'invoices', 'sales & co': null, other: { to: ['x'] } },
    },
    urgent: { type: 'noul', instructions: { is: 'it urgent' } },
    paid: { type: 'noul', criteria: { true: 'it is paid' } },
    mood: { type: 'score', instructions: 'Mood?', criteria: ['bad', '', 'good'] },
  },
}

t.test('a caller’s text is plain, at its place in the template', async (t) => {
  const { input, readers } = (await createReadout(engineOf())).render(request)
  t.equal(shown(input.prefix), '[CLS]<{"text":"pay [MASK] me","n":1}>[SEP]')
  t.same(
    input.suffixes.map(({ parts }) => shown(parts)),
    [
      '<Which [SEP] team?>[SEP][MASK]<billing: invoices>[MASK]<sales & co>' +
        '[MASK]<other: {"to":["x"]}>[SEP]',
      '<{"is":"it urgent"}>[SEP][MASK]<no>[MASK]<yes>[SEP]',
      '<>[SEP][MASK]<no>[MASK]<yes: it is paid>[SEP]',
      '<Mood?>[SEP][MASK]<bad>[MASK]<level 2 of 3>[MASK]<good>[SEP]',
    ],
  )
  const readings = readers.map(({ reading }) => reading)
  t.same(
    readings,
    [3, 2, 2, 3].map((count) => ({ kind: 'labels', forms: new Array(count).fill(1) })),
  )
  const counts = input.suffixes.map(({ candidates }) => candidates.length)
  t.same(counts, [3, 2, 2, 3])
})

t.test('the state may be last', async (t) => {
  const template = '[CLS]{question}[SEP]{options}[SEP]{state}[SEP]'
  const readout = await createReadout(engineOf({ 'oi.pointer.template': template }))
  const { input } = readout.render({ state: 'S', questions: { q: { type: 'noul' } } })
  t.equal(shown(input.suffixes[0]!.parts), '[CLS]<>[SEP][MASK]<no>[MASK]<yes>')
  t.equal(shown(input.prefix), '[SEP]<S>[SEP]')
})

t.test('a question of one option needs no model', async (t) => {
  const one: DecideRequest = { state: 'S', questions: { q: { type: 'score', criteria: ['x'] } } }
  const { input, readers } = (await createReadout(engineOf())).render(one)
  t.equal(input.suffixes[0]!.candidates.length, 0)
  t.same(readers[0]!.reading, { kind: 'labels', forms: [] })
})

t.test('options that do not know each other are asked in one order', async (t) => {
  t.equal((await createReadout(engineOf())).ownOrders, undefined)
  t.equal((await createReadout(encoder)).ownOrders, true)
})

t.test('a model carries temperatures', async (t) => {
  const text = '{"noul":1.5,"choice":{"2":2,"11+":0.5}}'
  const { temperatures } = await createReadout(engineOf({ 'oi.temperature': text }))
  t.same(temperatures, [
    { type: 'noul', from: 1, to: Infinity, temperature: 1.5 },
    { type: 'choice', from: 1, to: 2, temperature: 2 },
    { type: 'choice', from: 11, to: Infinity, temperature: 0.5 },
  ])
})

t.test('a model carries a bias for yes, which inspect shows', async (t) => {
  const engine = engineOf({ 'oi.temperature': '{"noul":{"temperature":1.5,"bias":-0.25}}' })
  const { temperatures } = await createReadout(engine)
  t.same(temperatures, [{ type: 'noul', from: 1, to: Infinity, temperature: 1.5, bias: -0.25 }])
  const { inspection } = await inspectModel('m.gguf', engine)
  t.match(inspectionText(inspection), /^temperatures +noul 1\.5, yes -0\.25$/m)
})

t.test('inspect shows a pass', async (t) => {
  const { inspection } = await inspectModel('m.gguf', encoder)
  t.equal(inspection.kind, 'encoder')
  const text = inspectionText(inspection)
  t.match(text, /^architecture +bert \(encoder\)$/m)
  t.match(text, /^readout +prefix@1$/m)
  t.match(text, /^pass +\[CLS\]{state}\[SEP\]; \[MASK\]{option}\[SEP\] sees state and question; /m)
  t.notMatch(text, /labels|chat template/)
  const pointer = engineOf({ 'oi.pointer.pass_options': '77' })
  const shown = inspectionText((await inspectModel('m.gguf', pointer)).inspection)
  t.match(shown, /^pass +\[CLS\]{state}.*, \[MASK\] before each option, 77 options at most$/m)
})

const bad: [string, Record<string, string>, RegExp][] = [
  ['a name twice', { 'oi.pointer.template': `${stateFirst}{state}` }, /template: .*{state} once/],
  ['no options', { 'oi.pointer.template': '{state}{question}' }, /template: .*{options} once/],
  [
    'a state between',
    { 'oi.pointer.template': '{question}{state}{options}' },
    /expected {state} first or last/,
  ],
  ['a temperature of 0', { 'oi.temperature': '{"noul":0}' }, /^oi\.temperature: temperature\.noul/],
  [
    'a bias of 11',
    { 'oi.temperature': '{"noul":{"temperature":1,"bias":11}}' },
    /temperature\.noul\.bias: expected a number from -10 to 10/,
  ],
  [
    'a bias alone',
    { 'oi.temperature': '{"noul":{"bias":1}}' },
    /temperature\.noul: expected a temperature beside the bias/,
  ],
  [
    'a bias of a choice',
    { 'oi.temperature': '{"choice":{"temperature":1,"bias":1}}' },
    /temperature\.choice/,
  ],
  ['no JSON', { 'oi.temperature': '{' }, /^oi\.temperature: /],
  ['another version', { 'oi.readout': 'pointer@2' }, /^oi\.readout: .*pointer@2 is a readout that/],
]

for (const [name, metadata, message] of bad) {
  t.test(`metadata with ${name} are refused`, async (t) => {
    await t.rejects(createReadout(engineOf(metadata)), { code: 'ERR_READOUT', message })
  })
}

t.test('no other readout replaces it, and images are refused', async (t) => {
  await t.rejects(createReadout(engineOf(), { custom: lettersOne }), {
    code: 'ERR_READOUT',
    message: /asked as pointer@1 alone/,
  })
  const readout = await createReadout(engineOf())
  const images = { before: [], inState: new Map() } as never
  t.throws(() => readout.render(request, images), { code: 'ERR_REQUEST_UNACCEPTABLE' })
})

t.test('more than 255 options are refused with the question’s name', async (t) => {
  const readout = await createReadout(engineOf())
  const criteria = new Array<string>(256).fill('x')
  const many: DecideRequest = { state: '', questions: { q: { type: 'score', criteria } } }
  t.throws(() => readout.render(many), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'questions.q.criteria',
  })
})

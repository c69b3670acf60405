/** Questions in several orders of their options: prompts, places, bounds. No model. */
import t from 'tap'
import { entriesOf, objectFromEntries, type Json } from '../../src/api/json.js'
import { mostAddedText, mostOrders, renderInOrders } from '../../src/decide/render-orders.js'
import type { Orders, Question } from '../../src/decide/types.js'
import type { PromptPart, Suffix } from '../../src/engine/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import type { Readout } from '../../src/prompt/types.js'
import type { Reading, ScoreReading } from '../../src/scoring/types.js'
import { createFakeEngine, type FakeEngineOptions } from '../helpers/fake-engine.js'

const state = { rain: true }
const choiceOf = (...names: string[]): Question => ({
  type: 'choice',
  criteria: objectFromEntries<Json>(names.map((name) => [name, null])),
})
const optionsOf = (count: number, name = 'o') =>
  choiceOf(...Array.from({ length: count }, (_, i) => `${name}${i}`))
const wordless = { isWord: (word: string) => !/^ ?(yes|no)$/i.test(word) }

async function render(question: Question, orders: Orders, options: FakeEngineOptions = {}) {
  const readout = await createReadout(createFakeEngine(options))
  const request = { state, questions: { q: question } }
  const { input, readers } = renderInOrders(readout, request, undefined, orders)
  return { texts: input.suffixes.map(textOf), ...input, reading: readers[0]!.reading }
}

const textOf = ({ parts }: Suffix) => parts[0]!.text
const placesOf = (reading: Reading) =>
  reading.kind === 'orders' ? reading.orders.map(({ places }) => places) : undefined

t.test('one order is the request as the readout renders it', async (t) => {
  const readout = await createReadout(createFakeEngine())
  const request = { state, questions: { a: optionsOf(3), b: choiceOf('only') } }
  t.strictSame(renderInOrders(readout, request, undefined, 1), readout.render(request))
})

t.test('the state is there once, and the answer belongs to the original question', async (t) => {
  const readout = await createReadout(createFakeEngine())
  const request = { state, questions: { q: optionsOf(4) } }
  const { input, readers } = renderInOrders(readout, request, undefined, 'all')
  t.strictSame(input.prefix, readout.render(request).input.prefix)
  t.equal(readers[0]!.question, request.questions.q)
})

t.test('two orders of a choice are the given one and its reverse', async (t) => {
  const criteria = { x: 'X', y: null, z: null }
  const { texts, suffixes, reading } = await render({ type: 'choice', criteria }, 2)
  const closing = '\n\nAnswer with only the letter of the best option.'
  t.strictSame(texts, [
    `Options:\nA: x - X\nB: y\nC: z${closing}`,
    `Options:\nA: z\nB: y\nC: x - X${closing}`,
  ])
  const labels = { kind: 'labels', forms: [1, 1, 1] } as const
  t.strictSame(reading, {
    kind: 'orders',
    orders: [
      { places: [0, 1, 2], reading: labels },
      { places: [2, 1, 0], reading: labels },
    ],
  })
  t.strictSame(suffixes[0]!.candidates, suffixes[1]!.candidates, 'labels stay in place order')
})

t.test('in all orders each option stands once behind each label', async (t) => {
  const names = ['9', 'b', '1', '__proto__']
  const { texts, reading } = await render(choiceOf(...names), 'all')
  const places = placesOf(reading)!
  t.equal(texts.length, 4)
  for (const [i, name] of names.entries()) {
    const labels = texts.map((text) => new RegExp(`^(\\w): ${name}$`, 'm').exec(text)![1]!)
    t.strictSame([...labels].sort(), ['A', 'B', 'C', 'D'], name)
    t.strictSame(
      labels.map((label) => 'ABCD'.indexOf(label)),
      places.map((row) => row[i]),
      `${name} stands where its places say`,
    )
  }
})

t.test('levels are reversed in words too, and never rotated', async (t) => {
  const criteria = ['can wait', '', 'now', '']
  const question = { type: 'score', instructions: 'How urgent?', criteria } as const
  const two = await render(question, 2)
  t.equal(
    two.texts[1],
    [
      'How urgent?',
      '',
      'Levels, from the highest to the lowest:',
      'A: level 4 of 4',
      'B: now',
      'C: level 2 of 4',
      'D: can wait',
      '',
      'Answer with only the letter of the level that fits best.',
    ].join('\n'),
  )
  t.strictSame(placesOf(two.reading), [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
  ])
  t.strictSame(await render(question, 'all'), two)
})

t.test('a noul has a second order only if something can change places', async (t) => {
  const noul = { type: 'noul', instructions: 'Wet?' } as const
  for (const criteria of [undefined, null, {}, { true: 'drops' }, { false: '', true: 'drops' }]) {
    const { texts, reading } = await render({ ...noul, ...(criteria && { criteria }) }, 2)
    t.equal(texts.length, 1, JSON.stringify(criteria))
    t.equal(reading.kind, 'labels')
  }
  const both = await render({ ...noul, criteria: { true: 'drops', false: 'sun' } }, 'all')
  t.match(both.texts[0], '\nYes: drops\nNo: sun\n')
  t.match(both.texts[1], '\nNo: sun\nYes: drops\n')
  t.equal(both.texts.length, 2)
  t.strictSame(placesOf(both.reading), [
    [0, 1],
    [0, 1],
  ])
})

t.test('a noul with letters is asked in both orders, no being read before yes', async (t) => {
  const { texts, suffixes } = await render({ type: 'noul', instructions: 'Wet?' }, 2, wordless)
  t.match(texts[0], 'A: Yes\nB: No\n')
  t.match(texts[1], 'A: No\nB: Yes\n')
  const [given, other] = suffixes.map(({ candidates }) => [...candidates])
  t.strictSame(other, [given![1], given![0]])
})

t.test('one option or level has one order', async (t) => {
  for (const question of [choiceOf('only'), { type: 'score', criteria: ['x'] } as const]) {
    const { texts, reading } = await render(question, 'all')
    t.equal(texts.length, 1)
    t.strictSame(reading, { kind: 'labels', forms: [] })
  }
})

t.test('each question keeps its own suffixes, whatever other questions have', async (t) => {
  const readout = await createReadout(createFakeEngine())
  const questions = objectFromEntries<Question>([
    ['7', { type: 'noul', instructions: 'Wet?' }],
    ['team', choiceOf('a', 'b', 'c')],
    ['1', { type: 'score', criteria: ['low', 'high'] }],
  ])
  const together = renderInOrders(readout, { state, questions }, undefined, 'all')
  const alone = entriesOf(questions).map(([name, question]) =>
    renderInOrders(readout, { state, questions: { [name]: question } }, undefined, 'all'),
  )
  t.strictSame(
    together.input.suffixes.map(textOf),
    alone.flatMap(({ input }) => input.suffixes.map(textOf)),
  )
  t.strictSame(
    together.readers,
    alone.flatMap(({ readers }) => readers),
  )
})

t.test('too many orders are refused with the question that exceeds the limit', async (t) => {
  const readout = await createReadout(createFakeEngine())
  const questions = { a: optionsOf(255), b: optionsOf(255), 'a b': optionsOf(3), d: optionsOf(2) }
  const ask = (orders: Orders) =>
    renderInOrders(readout, { state, questions }, undefined, orders).input.suffixes.length
  t.throws(() => ask('all'), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'questions["a b"].criteria',
    message: `questions["a b"].criteria: expected at most ${mostOrders} orders of all questions together, got 513 with this question (orders: all)`,
  })
  t.equal(ask(2), 8)
  const most = { a: optionsOf(255), b: optionsOf(255), c: optionsOf(2) }
  const { input } = renderInOrders(readout, { state, questions: most }, undefined, 'all')
  t.equal(input.suffixes.length, mostOrders)
})

t.test('too much text is refused before it is made', async (t) => {
  const readout = await createReadout(createFakeEngine())
  const questions = { q: optionsOf(200, 'word '.repeat(30)) }
  let rendered = 0
  const counted: Readout = {
    ...{ name: readout.name, labels: readout.labels, codes: [], noulForms: readout.noulForms },
    ...{ tokenTexts: readout.tokenTexts, maxOptions: readout.maxOptions },
    writeState: (...given) => readout.writeState(...given),
    render: (...given) => {
      rendered++
      return readout.render(...given)
    },
  }
  const ask = (orders: Orders) =>
    renderInOrders(counted, { state, questions }, undefined, orders).input.suffixes.length
  const message = `questions.q.criteria: expected at most ${mostAddedText} characters of added`
  t.throws(() => ask('all'), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'questions.q.criteria',
    message: new RegExp(`^${message} orders, got \\d{7} with`),
  })
  t.equal(rendered, 1)
  t.equal(ask(2), 2)
})

const part = (text: string): PromptPart => ({ text, trusted: false })

/** A readout whose questions take two suffixes each, read by `reading`. */
function twoSteps(reading: Reading): Readout {
  return {
    ...{ name: 'steps@1', labels: ['A', 'B'], maxOptions: 255 },
    ...{ noulForms: { no: [], yes: [] }, tokenTexts: new Map<number, string>() },
    *writeState() {},
    render: ({ questions }) => {
      const asked = entriesOf(questions)
      const suffixes = asked.flatMap(([, question]) =>
        ['first', 'second'].map((step) => ({
          parts: [part(`${step} ${Object.keys(question.criteria!).join()}`)],
          candidates: Int32Array.of(1, 2),
        })),
      )
      const readers = asked.map(([name, question]) => ({ name, question, reading }))
      return { input: { prefix: [part('state')], suffixes }, readers }
    },
  }
}

t.test('a reading of several suffixes takes all of them in each order', async (t) => {
  const reading: ScoreReading = { kind: 'scores', options: [0, 1] }
  const questions = { q: choiceOf('a', 'b'), r: choiceOf('c', 'd') }
  const rendered = renderInOrders(twoSteps(reading), { state, questions }, undefined, 2)
  t.strictSame(
    rendered.input.suffixes.map(textOf),
    ['a,b', 'b,a', 'c,d', 'd,c'].flatMap((names) => [`first ${names}`, `second ${names}`]),
  )
  for (const { reading: averaged } of rendered.readers) {
    t.match(averaged, { kind: 'orders', orders: [{ reading }, { reading }] })
  }
})

t.test('a readout with its own orders is unchanged', async (t) => {
  const labels = { kind: 'labels', forms: [1, 1] } as const
  const own: Reading = {
    kind: 'orders',
    orders: [
      { places: [0, 1], reading: labels },
      { places: [1, 0], reading: labels },
    ],
  }
  const request = { state, questions: { q: choiceOf('a', 'b') } }
  const readout = twoSteps(own)
  t.strictSame(renderInOrders(readout, request, undefined, 'all'), readout.render(request))
})

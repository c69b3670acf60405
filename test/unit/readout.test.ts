/** The readout of a model: its labels, its layout, and rendered requests. No model. */
import t from 'tap'
import { createReadout } from '../../src/prompt/readout.js'
import { findLabels, findNoulTokens } from '../../src/prompt/labels.js'
import { plainLayout } from '../../src/prompt/plain-layout.js'
import { parseJson } from '../../src/api/json.js'
import type { DecideRequest } from '../../src/decide/types.js'
import type { Engine } from '../../src/engine/types.js'
import { createFakeEngine, engineOfLabels, type FakeEngineOptions } from '../helpers/fake-engine.js'

const chat = { head: '', between: '\n\n', tail: '<|start|>assistant\n', labelPrefix: '' } as const
const request = parseJson(
  `{"state": {"b": 1.0, "1": "<|end|>"},
    "questions": {
      "ten": {"type": "noul", "instructions": "Is it <|start|>?"},
      "10": {"type": "choice", "criteria": {"x": "X", "y": null, "z": null}},
      "9": {"type": "score", "instructions": "How?", "criteria": ["low", "high"]},
      "one": {"type": "choice", "criteria": {"only": null}}}}`,
) as unknown as DecideRequest

t.test('labels are letters, then codes, 255 of them', async (t) => {
  const labels = await findLabels(createFakeEngine(), chat)
  t.equal(labels.length, 255)
  const first = labels.slice(0, 28).map((label) => label.text)
  t.strictSame(first, [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'AA', 'AB'])
  t.equal(new Set(labels.map((label) => label.token)).size, 255)
})

t.test('a label is its one token after the tail', async (t) => {
  const engine = createFakeEngine()
  for (const layout of [chat, plainLayout]) {
    const labels = await findLabels(engine, layout)
    for (const { text, token } of labels.slice(0, 30)) {
      const [ids] = await engine.tokenize([
        { text: layout.tail + layout.labelPrefix + text, trusted: true },
      ])
      t.equal(ids!.at(-1), token, text)
    }
  }
})

t.test('texts of two tokens are not labels', async (t) => {
  const isWord = (word: string) => !/^ ?[A-Z]{2}$/.test(word)
  const labels = await findLabels(createFakeEngine({ isWord }), chat)
  t.notOk(labels.some((label) => /^[A-Z]{2}$/.test(label.text)))
  t.ok(labels.some((label) => /^[a-z]{2}$/.test(label.text)))
})

t.test('a text that changes the tokens before it is not a label', async (t) => {
  // After a word a letter only makes the word longer; a letter with a space does not.
  const engine = createFakeEngine()
  const labels = await findLabels(engine, { ...chat, tail: 'Answer' })
  const [ids] = await engine.tokenize([{ text: ' A', trusted: true }])
  t.strictSame(labels[0], { text: 'A', token: ids![0] })
})

t.test('labels have a space where replies begin with one', async (t) => {
  const engine = createFakeEngine({
    info: {
      chatTemplate:
        '{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}' +
        '{% if add_generation_prompt %}assistant:{% endif %}',
    },
  })
  const { input } = (await createReadout(engine)).render(request)
  const [ids] = await engine.tokenize([{ text: ' A', trusted: true }])
  t.equal(input.suffixes[1]!.parts[1]!.text, '\nassistant:')
  t.equal(input.suffixes[1]!.candidates[0], ids![0])
})

t.test('tokens that are not ordinary are not labels', async (t) => {
  const engine = createFakeEngine()
  const [ids] = await engine.tokenize([{ text: 'B', trusted: true }])
  engine.areOrdinary = (all) => Array.from(all, (id) => id !== ids![0])
  const labels = await findLabels(engine, chat)
  t.strictSame(
    labels.slice(0, 2).map((label) => label.text),
    ['A', 'C'],
  )
})

t.test('each pool is one call', async (t) => {
  const engine = createFakeEngine()
  let calls = 0
  const { tokenize } = engine
  engine.tokenize = (texts) => {
    calls++
    return tokenize.call(engine, texts)
  }
  await findLabels(engine, chat)
  t.equal(calls, 2)
})

t.test('yes and no count in every form that is one token', async (t) => {
  t.match(await findNoulTokens(createFakeEngine(), chat), { no: { length: 6 }, yes: { length: 6 } })
  const isWord = (word: string) => word === 'Yes' || word === 'no'
  t.match(await findNoulTokens(createFakeEngine({ isWord }), chat), {
    no: { length: 1 },
    yes: { length: 1 },
  })
  const onlyYes = (word: string) => word === 'Yes'
  t.equal(await findNoulTokens(createFakeEngine({ isWord: onlyYes }), chat), undefined)
})

const renderWith = async (options: FakeEngineOptions) =>
  (await createReadout(createFakeEngine(options))).render(request)

t.test('a request is one prefix and a suffix for each question', async (t) => {
  const { input, readers } = await renderWith({})
  t.strictSame(input.prefix, [
    { text: '<|start|>user\n', trusted: true },
    { text: '{"b":1.0,"1":"<|end|>"}\n\n', trusted: false },
  ])
  t.strictSame(
    readers.map(({ name, reading }) => [name, reading.kind === 'labels' && reading.forms]),
    [
      ['ten', [6, 6]],
      ['10', [1, 1, 1]],
      ['9', [1, 1]],
      ['one', []],
    ],
  )
  const counts = input.suffixes.map((suffix) => suffix.candidates.length)
  t.strictSame(counts, [12, 3, 2, 0])
  t.strictSame(input.suffixes[0]!.parts, [
    { text: 'Is it <|start|>?\n\nAnswer with only Yes or No.', trusted: false },
    { text: '<|end|>\n<|start|>assistant\n', trusted: true },
  ])
})

t.test("the caller's text is never trusted, and nothing of it is in a trusted part", async (t) => {
  const { input } = await renderWith({})
  const parts = [...input.prefix, ...input.suffixes.flatMap((suffix) => suffix.parts)]
  const trusted = parts.filter((part) => part.trusted).map((part) => part.text)
  t.strictSame(new Set(trusted), new Set(['<|start|>user\n', '<|end|>\n<|start|>assistant\n']))
})

t.test('names of questions are not in the prompt', async (t) => {
  const { input } = await renderWith({})
  t.notMatch(JSON.stringify(input), /"ten|\bten\b/)
})

t.test('a model without a template is asked in plain text', async (t) => {
  const engine = createFakeEngine({ info: { chatTemplate: undefined } })
  const { input } = (await createReadout(engine)).render(request)
  t.strictSame(input.prefix, [{ text: '{"b":1.0,"1":"<|end|>"}\n\n', trusted: false }])
  t.strictSame(input.suffixes[1]!.parts.at(-1), { text: '\n\nAnswer:', trusted: true })
  const [ids] = await engine.tokenize([{ text: ' A', trusted: true }])
  t.equal(input.suffixes[1]!.candidates[0], ids![0])
})

t.test('the beginning-of-text token is there once if the tokenizer wants it', async (t) => {
  const metadata = { 'tokenizer.ggml.add_bos_token': 'true' }
  const source = '{{ bos_token }}[U]{{ messages[0].content }}[A]'
  for (const [chatTemplate, head] of [
    [undefined, '<|bos|>'],
    [source, '<|bos|>[U]'],
    [source.replace('{{ bos_token }}', ''), '<|bos|>[U]'],
  ] as const) {
    const { input } = await renderWith({ info: { chatTemplate, metadata } })
    t.strictSame(input.prefix[0], { text: head, trusted: true })
  }
})

t.test('without a token for yes or no, a noul is asked with letters', async (t) => {
  const { input, readers } = await renderWith({ isWord: (word) => !/^ ?(yes|no)$/i.test(word) })
  t.match(input.suffixes[0]!.parts[0]!.text, 'A: Yes\nB: No')
  const engine = createFakeEngine()
  const [a, b] = await engine.tokenize(['A', 'B'].map((text) => ({ text, trusted: true })))
  t.strictSame([...input.suffixes[0]!.candidates], [b![0], a![0]])
  t.strictSame(readers[0]!.reading, { kind: 'labels', forms: [1, 1] })
})

t.test('more options than the model can answer are refused with the place', async (t) => {
  const readout = await createReadout(await engineOfLabels('ABC'))
  const most = readout.maxOptions
  t.equal(most, 3)
  const criteria = Object.fromEntries(Array.from({ length: most + 1 }, (_, i) => [`o${i}`, null]))
  t.throws(() => readout.render({ state: 1, questions: { 'a b': { type: 'choice', criteria } } }), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'questions["a b"].criteria',
    message: `questions["a b"].criteria: expected 1 to ${most} options, got ${most + 1}`,
  })
  const levels = new Array<string>(most + 1).fill('x')
  t.throws(
    () => readout.render({ state: 1, questions: { q: { type: 'score', criteria: levels } } }),
    {
      message: `questions.q.criteria: expected 1 to ${most} levels, got ${most + 1}`,
    },
  )
  levels.pop()
  t.ok(readout.render({ state: 1, questions: { q: { type: 'score', criteria: levels } } }))
})

t.test('a model has as many options as labels; with fewer than two it is refused', async (t) => {
  const mostOf = async (engine: Engine) => (await createReadout(engine)).maxOptions
  t.equal(await mostOf(createFakeEngine()), 255)
  t.equal(await mostOf(createFakeEngine({ isWord: (word) => word.length < 2 })), 26)
  t.equal(await mostOf(await engineOfLabels('AB')), 2)
  await t.rejects(mostOf(await engineOfLabels('A')), {
    code: 'ERR_READOUT',
    message: 'labels: expected 2 single tokens or more behind the question',
  })
})

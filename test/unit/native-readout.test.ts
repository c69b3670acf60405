/** Decision models: labels, orders and readings of each family. No model. */
import t from 'tap'
import { parseJson } from '../../src/api/json.js'
import { createDecider } from '../../src/decide/decide.js'
import type { ChoiceAnswer, Question } from '../../src/decide/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import {
  ask,
  choiceOf,
  engineOf,
  readoutOf,
  renderedTail,
  textOf,
  tokenOf,
  tokensOf,
} from '../helpers/native-model.js'
import { plainSoftmax } from '../helpers/synthetic.js'

t.test(
  "the model's own template makes the prompt, with the state in the shared part",
  async (t) => {
    const readout = await readoutOf('pplx-decider')
    t.equal(readout.name, 'pplx-decider@1')
    const criteria = { b: 'second', a: null }
    const { input } = readout.render(ask({ type: 'choice', instructions: 'Which?', criteria }))
    t.strictSame(input, {
      prefix: [
        { text: '<|start|>system\nDecide.<|end|>\n<|start|>', trusted: true },
        { text: 'user\nState:\nS\n\nAsked:\n', trusted: false },
      ],
      suffixes: [
        {
          parts: [
            { text: 'Which?\nA: b - second\nB: a\nCode?', trusted: false },
            { text: renderedTail, trusted: true },
          ],
          candidates: Int32Array.from(await tokensOf(['A', 'B'])),
        },
      ],
    })
  },
)

t.test('a noul has the order and labels of its family', async (t) => {
  const question: Question = { type: 'noul', criteria: { true: 'so', false: 'not so' } }
  for (const [type, shown, labels] of [
    ['openjev', 'A: true - so\nB: false - not so', ['B', 'A']],
    ['nimble', 'A: false - not so\nB: true - so', ['A', 'B']],
    ['lev', 'A: false - not so\nB: true - so', [...'ABCDEFGHI']],
    ['lfm2-d1', 'yes: true - so\nno: false - not so', ['no', 'No', 'NO', 'yes', 'Yes', 'YES']],
  ] as const) {
    const { input, readers } = (await readoutOf(type)).render(ask(question))
    t.match(textOf(input.suffixes[0]!.parts), shown, type)
    t.strictSame([...input.suffixes[0]!.candidates], await tokensOf(labels), type)
    t.equal(readers[0]!.reading.kind, 'labels', type)
  }
})

t.test('a rated noul is the expected rating, at its own temperature', async (t) => {
  const scores: Readonly<Record<string, number>> = { A: 1, D: 2, I: 3 }
  const engine = engineOf('lev', {
    temperatures: { noul: '1.600000' },
    logit: (_, token) => scores[token] ?? 0,
  })
  const decider = await createDecider(engine, { fileName: 'x', digest: '', releaseDate: '' })
  const { answers } = await decider.decide(ask({ type: 'noul', instructions: 'Is it?' }), {
    evidence: true,
  })
  const weights = plainSoftmax([1, 0, 0, 2, 0, 0, 0, 0, 3], 1.6)
  const expected = weights.reduce((sum, weight, i) => sum + (weight * i) / 8, 0)
  const answer = answers['the name']!
  t.ok(answer.type === 'noul' && Math.abs(answer.noul - expected) < 1e-9, `${expected}`)
  t.match(answer.evidence, { temperature: 1.6, logits: [1, 0, 0, 2, 0, 0, 0, 0, 3] })
})

t.test('lev asks a choice in both orders and takes the mean of the probabilities', async (t) => {
  // The label A is worth 1 by itself, and the option x after any label 2.
  const logit = (prompt: string, token: string) =>
    (token === 'A' ? 1 : 0) + (prompt.includes(`\n${token}: x`) ? 2 : 0)
  const engine = engineOf('lev', { logit, temperatures: { 'choice.small': '2' } })
  const decider = await createDecider(engine, { fileName: 'x', digest: '', releaseDate: '' })
  const decide = async (names: readonly string[]) => {
    const criteria = Object.fromEntries(names.map((name) => [name, null]))
    const { answers } = await decider.decide(ask({ type: 'choice', criteria }), { evidence: true })
    return answers['the name'] as ChoiceAnswer
  }
  const answer = await decide(['x', 'y', 'z'])
  const [forward, backward] = [plainSoftmax([3, 0, 0], 2), plainSoftmax([2, 0, 1], 2)]
  for (const [i, name] of ['x', 'y', 'z'].entries()) {
    const expected = (forward[i]! + backward[i]!) / 2
    t.ok(Math.abs(answer.probabilities[name]! - expected) < 1e-9, `${name}: ${expected}`)
  }
  const spread = Math.max(...forward.map((p, i) => Math.abs(p - backward[i]!)))
  t.ok(Math.abs(answer.evidence!.order_spread! - spread) < 1e-9)

  const { suffixes } = engine.scored[0]!
  const shownTexts = suffixes.map(({ parts }) => parts[0]!.text)
  t.match(shownTexts, [/A: x\nB: y\nC: z/, /A: z\nB: y\nC: x/])
  const reversed = await decide(['z', 'y', 'x'])
  for (const name of ['x', 'y', 'z']) {
    t.ok(Math.abs(reversed.probabilities[name]! - answer.probabilities[name]!) < 1e-12, name)
  }
})

t.test('lev asks a score, a noul and a single option once', async (t) => {
  const readout = await readoutOf('lev')
  for (const question of [
    { type: 'score', criteria: ['low', 'high'] },
    { type: 'noul', instructions: 'Is it?' },
    { type: 'choice', criteria: { only: null } },
  ] as const) {
    t.equal(readout.render(ask(question)).input.suffixes.length, 1, question.type)
  }
  const { input, readers } = readout.render(ask(choiceOf(1)))
  t.equal(input.suffixes[0]!.candidates.length, 0)
  t.strictSame(readers[0]!.reading, { kind: 'labels', forms: [] })
})

t.test('labels are letters, and codes for families that have them', async (t) => {
  for (const [type, most, last] of [
    ['openjev', 52, 'z'],
    ['nimble', 255, 'IU'],
    ['lev', 255, 'IU'],
  ] as const) {
    const readout = await readoutOf(type)
    t.match(readout, { maxOptions: most, labels: { length: most } }, type)
    t.equal(readout.labels.at(-1), last, type)
  }
  t.equal((await readoutOf('lfm2-d1')).maxOptions, 255)
})

t.test(
  'a letter that is not a single token ends the letters, and such a code is skipped',
  async (t) => {
    const hidden = await tokenOf('D')
    const labelsOf = async (type: string) => {
      const engine = engineOf(type)
      engine.areOrdinary = (ids) => Array.from(ids, (id) => id !== hidden)
      return (await createReadout(engine)).labels
    }
    t.strictSame(await labelsOf('openjev'), ['A', 'B', 'C'])
    t.strictSame((await labelsOf('nimble')).slice(0, 4), ['A', 'B', 'C', 'E'])
    await t.rejects(
      createReadout(
        Object.assign(engineOf('lev'), {
          areOrdinary: (ids: Int32Array) => Array.from(ids, () => false),
        }),
      ),
      {
        code: 'ERR_READOUT',
        message: 'labels: expected 9 letters as single tokens',
      },
    )
  },
)

t.test('the labels of d1 are letters, numbers, or the names themselves', async (t) => {
  const readout = await readoutOf('lfm2-d1')
  const shownFor = (question: Question) =>
    [...textOf(readout.render(ask(question)).input.suffixes[0]!.parts).matchAll(/^(\S+): /gm)].map(
      ([, label]) => label,
    )
  t.strictSame(shownFor(choiceOf(3)), ['A', 'B', 'C'])
  t.strictSame(shownFor({ type: 'choice', criteria: { Q: null, b: null } }), ['Q', 'b'])
  t.strictSame(shownFor({ type: 'score', criteria: ['x', 'y', 'z'] }), ['0', '1', '2'])
  // The fake tokenizer has no two-digit numbers: letters and pairs of letters remain.
  t.strictSame(shownFor(choiceOf(27)).slice(24), ['Y', 'Z', 'a'])

  const { input, readers } = readout.render(ask(choiceOf(2)))
  t.strictSame([...input.suffixes[0]!.candidates], await tokensOf(['A', ' A', 'B', ' B']))
  t.strictSame(readers[0]!.reading, { kind: 'labels', forms: [2, 2], pick: 'likeliest' })
  const levels = new Array<string>(11).fill('x')
  t.throws(() => readout.render(ask({ type: 'score', criteria: levels })), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'questions["the name"].criteria',
    message: 'questions["the name"].criteria: expected 1 to 10 levels, got 11',
  })
})

t.test('more options than labels are refused with the place', async (t) => {
  const readout = await readoutOf('openjev')
  t.throws(() => readout.render(ask(choiceOf(53))), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    message: 'questions["the name"].criteria: expected 1 to 52 options, got 53',
  })
  t.equal(readout.render(ask(choiceOf(52))).input.suffixes[0]!.candidates.length, 52)
})

t.test('a value that is not a string is JSON in the form of the family', async (t) => {
  const state = parseJson('{"b": 1.0, "1": ["<", {}], "a": null}')
  const stateOf = async (type: string) =>
    textOf((await readoutOf(type)).render(ask({ type: 'noul' }, state)).input.prefix)
      .split('State:\n')[1]!
      .split('\n\nAsked')[0]
  t.equal(await stateOf('openjev'), '{"b": 1.0, "1": ["<", {}], "a": null}')
  t.equal(await stateOf('lev'), '{"1": ["<", {}], "a": null, "b": 1.0}')
  t.equal(
    await stateOf('lfm2-d1'),
    '{\n  "b": 1.0,\n  "1": [\n    "<",\n    {}\n  ],\n  "a": null\n}',
  )
})

t.test('an image is refused, as the format is text only', async (t) => {
  const readout = await readoutOf('openjev')
  const images = { before: [], inState: new Map() }
  t.throws(() => readout.render(ask({ type: 'noul' }), images), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'state',
  })

  const engine = engineOf('openjev')
  Object.assign(engine.info, { vision: true })
  const decider = await createDecider(engine, { fileName: 'x', digest: '', releaseDate: '' })
  t.match(decider.card, { modalities: ['text'], limits: { max_images: 0 } })
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } }
  await t.rejects(decider.decide(ask({ type: 'noul', instructions: 'Is it?' }, { image })), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    message: /^state\.image.*reads text only/,
  })
})

t.test('options that the template would show as one line are quoted, and no others', async (t) => {
  const readout = await readoutOf('nimble')
  const shown = (criteria: Readonly<Record<string, string | null>>) => {
    const { input } = readout.render(ask({ type: 'choice', instructions: 'Which?', criteria }))
    return textOf(input.suffixes[0]!.parts).split('\n').slice(1, -2)
  }
  t.match(
    shown({ 'x - y': 'z', x: 'y - z', 'x - yy': 'z' }).join('\n'),
    ['A: "x - y" - "z"', 'B: "x" - "y - z"', 'C: x - yy - z'].join('\n'),
  )
  t.match(shown({ x: 'y', 'x - y': null }).join('\n'), 'A: "x" - "y"\nB: "x - y"')
  t.match(shown({ x: 'y', 'x / y': null, xy: null }).join('\n'), 'A: x - y\nB: x / y\nC: xy')
})

/** Labels of several tokens: the codes, and their probabilities. No model. */
import t from 'tap'
import { createDecider } from '../../src/decide/decide.js'
import type { ChoiceAnswer, NoulAnswer, Question } from '../../src/decide/types.js'
import { findCodes, mostCodes, mostPlaces } from '../../src/prompt/codes.js'
import type { Code } from '../../src/prompt/codes.js'
import { createReadout } from '../../src/prompt/readout.js'
import { createFakeEngine } from '../helpers/fake-engine.js'
import type { FakeEngine, FakeEngineOptions } from '../helpers/fake-engine.js'

const chat = { head: '', between: '\n\n', tail: '<|start|>assistant\n', labelPrefix: '' } as const
const facts = { fileName: 'poor.gguf', digest: 'sha256:', releaseDate: '2025-01-02' }

/** Only letters are tokens. */
const spelled = (word: string) => word.length < 2

const choiceOf = (count: number): Question => {
  const names = Array.from({ length: count }, (_, i) => [`o${i}`, null])
  return { type: 'choice', instructions: 'Which?', criteria: Object.fromEntries(names) }
}

/** An engine in whose vocabulary only these characters are ordinary. */
async function poorEngine(known: string, options: FakeEngineOptions = {}): Promise<FakeEngine> {
  const engine = createFakeEngine({ isWord: spelled, ...options })
  const tokens = await engine.tokenize([...known].map((text) => ({ text, trusted: true })))
  const ordinary = new Set(tokens.map((ids) => ids[0]))
  engine.areOrdinary = (ids) => Array.from(ids, (id) => ordinary.has(id))
  return engine
}

/** Changes the tokens of a text after the tail. */
function withText(engine: FakeEngine, change: (label: string) => string): FakeEngine {
  const { tokenize } = engine
  engine.tokenize = (parts) =>
    tokenize.call(
      engine,
      parts.map((part) => {
        const [before, label] = [
          part.text.slice(0, chat.tail.length),
          part.text.slice(chat.tail.length),
        ]
        return { ...part, text: before + change(label) }
      }),
    )
  return engine
}

const textsOf = (codes: readonly Code[] | undefined) => codes?.map((code) => code.text)
const beforesOf = (codes: readonly Code[]) =>
  new Set(codes.flatMap(({ steps }) => steps.map((step) => step.before)))

t.test('codes are as short as the number of options allows', async (t) => {
  const sets = await findCodes(await poorEngine('ABCD'), chat)
  t.strictSame(textsOf(sets[0]), ['A', 'B', 'C', 'D'])
  t.equal(sets[1]!.length, 16)
  t.strictSame(textsOf(sets[1])!.slice(0, 6), ['AA', 'AB', 'AC', 'AD', 'BA', 'BB'])
  t.equal(sets[2]!.length, 64)
  // Of four letters each: 64 places are the root and three whole branches.
  t.equal(sets[3]!.length, 192)
  t.equal(sets.length, 4)
})

t.test('a set of 255 codes has few places to read: letters 11, digits 30', async (t) => {
  for (const [alphabet, first, places] of [
    ['ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'AA', 11],
    ['abcdefghijklmnopqrstuvwxyz', 'aa', 11],
    ['0123456789', '000', 30],
  ] as const) {
    const sets = await findCodes(await poorEngine(alphabet), chat)
    const codes = sets.at(-1)!
    t.equal(codes.length, 255)
    t.equal(codes[0]!.text, first)
    t.equal(beforesOf(codes).size, places, alphabet)
  }
})

t.test('no set has more than 64 places, and none is shorter than the set before', async (t) => {
  for (const known of ['AB', 'ABC', 'ABCDE', 'AB01', '01']) {
    const sets = await findCodes(await poorEngine(known), chat)
    t.ok(sets.length > 1, known)
    for (const [i, codes] of sets.entries()) {
      t.ok(beforesOf(codes).size <= mostPlaces, `${known}: places`)
      t.ok(i === 0 || codes.length > sets[i - 1]!.length, `${known}: longer`)
      t.equal(new Set(textsOf(codes)).size, codes.length)
    }
    t.ok(mostCodes(sets) > 50, `${known}: ${mostCodes(sets)} codes`)
  }
})

t.test('a code may have fewer tokens than characters', async (t) => {
  const engine = createFakeEngine({ isWord: (word) => word.length < 2 || word === 'AB' })
  const codes = (await findCodes(engine, chat))[1]!
  const [ids] = await engine.tokenize([{ text: 'AB', trusted: true }])
  t.strictSame(codes.find(({ text }) => text === 'AB')?.steps, [{ before: '', token: ids![0] }])
  t.strictSame(
    codes.find(({ text }) => text === 'AC')?.steps.map(({ before }) => before),
    ['', 'A'],
  )
})

t.test('a code whose beginning has other tokens on its own is not used', async (t) => {
  // Before a B, an A is an A; alone it is an x.
  const engine = withText(await poorEngine('ABCx'), (label) => (label === 'A' ? 'x' : label))
  const codes = (await findCodes(engine, chat))[1]!
  t.strictSame(textsOf(codes), ['BA', 'BB', 'BC', 'CA', 'CB', 'CC'])
})

t.test('a code that begins another code, or has its tokens, is not used', async (t) => {
  // The B at the end of A B is not seen.
  const engine = withText(await poorEngine('ABC'), (label) => label.replace(/(?<=.)B$/, ''))
  const sets = await findCodes(engine, chat)
  const begins = sets.flatMap((codes) => {
    const paths = codes.map(({ steps }) => `${steps.map(({ token }) => token).join()},`)
    return codes
      .filter((_, i) => paths.some((other, k) => k !== i && other.startsWith(paths[i]!)))
      .map(({ text }) => `${text} of ${textsOf(codes)!.join(' ')}`)
  })
  t.strictSame(begins, [])
  t.ok(textsOf(sets[1])!.includes('AA'))
  t.notOk(textsOf(sets[1])!.includes('AB'))

  const uncased = withText(await poorEngine('ABC'), (label) => label.replaceAll('C', 'A'))
  t.strictSame(textsOf((await findCodes(uncased, chat))[0]), ['A', 'B'])
})

t.test('without two readable characters there are no codes, and no readout', async (t) => {
  const engine = await poorEngine('A')
  t.strictSame(await findCodes(engine, chat), [])
  await t.rejects(createReadout(engine), { code: 'ERR_READOUT', message: /^labels: expected 2 / })
})

t.test('where letters only continue the word before, codes begin with a space', async (t) => {
  const chatTemplate =
    '{% for m in messages %}{{ m.role }} {{ m.content }}\n{% endfor %}' +
    '{% if add_generation_prompt %}assistant{% endif %}'
  const isWord = (word: string) => !/^ ?(?:[A-Za-z]{1,2}|yes|no)$/i.test(word)
  const engine = createFakeEngine({ info: { chatTemplate }, isWord })
  const readout = await createReadout(engine)
  t.match(readout, { name: 'letters@1+trie', maxOptions: 255, labels: [] })
  t.strictSame(readout.codes.slice(0, 2), ['AA', 'AB'])
  const { input } = readout.render({ state: 'x', questions: { q: choiceOf(30) } })
  t.strictSame(
    input.suffixes.map(({ parts }) => parts[1]),
    ['', ' ', ' A', ' B'].map((begun) => ({ text: `\nassistant${begun}`, trusted: true })),
  )
  t.match(input.suffixes[2]!.parts[0]!.text, /^AZ: o25\nBA: o26\n/m)
  t.match(input.suffixes[2]!.parts[0]!.text, /only the code of the best option\.$/)
  t.strictSame(
    input.suffixes.map(({ candidates }) => candidates.length),
    [1, 2, 26, 4],
  )

  // One option needs no model, and two have codes of one letter.
  const few = readout.render({
    state: 'x',
    questions: { one: choiceOf(1), noul: { type: 'noul', instructions: 'Is it?' } },
  })
  t.strictSame(
    few.input.suffixes.map(({ candidates }) => candidates.length),
    [0, 1, 2],
  )
  t.match(few.input.suffixes[0]!.parts[0]!.text, /^A: o0$/m)
  t.match(few.input.suffixes[1]!.parts[0]!.text, /^A: Yes\nB: No$/m)
  t.strictSame(readout.noulForms, { yes: ['A'], no: ['B'] })
})

/** Invented logits of the next character after a part of a code. */
const strength = (begun: string, next: string) => {
  const text = begun + next
  let sum = 1
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) % 1009
  return 2 * Math.sin(sum)
}

const logit = (prompt: string, token: string) =>
  strength(prompt.slice(prompt.lastIndexOf('\n') + 1), token)

/** p of each code over the vocabulary, which has as much mass besides a place's candidates. */
function codeProbabilities(codes: readonly string[]): number[] {
  return codes.map((code) => {
    let p = 1
    for (let i = 0; i < code.length; i++) {
      const begun = code.slice(0, i)
      const nexts = new Set(codes.filter((c) => c.startsWith(begun)).map((c) => c[i]!))
      const mass = [...nexts].reduce((sum, next) => sum + Math.exp(strength(begun, next)), 0)
      p *= Math.exp(strength(begun, code[i]!)) / (2 * mass)
    }
    return p
  })
}

t.test('a model refuses a question with too many options, and names the place', async (t) => {
  const decider = await createDecider(await poorEngine('ABCD'), facts)
  const levels = { type: 'score', criteria: new Array<string>(193).fill('x') } as const
  for (const [question, noun] of [
    [choiceOf(193), 'options'],
    [levels, 'levels'],
  ] as const) {
    await t.rejects(decider.decide({ state: 'x', questions: { q: question } }), {
      code: 'ERR_REQUEST_UNACCEPTABLE',
      message: `questions.q.criteria: expected 1 to 192 ${noun}, got 193`,
      param: 'questions.q.criteria',
    })
  }
})

t.test('p(option) is the product over the tokens of its code', async (t) => {
  const engine = await poorEngine('ABCD', { logit })
  const decider = await createDecider(engine, facts)
  t.match(decider.card, {
    readout: 'letters@1+trie',
    limits: { max_options: 192, max_levels: 192 },
  })
  for (const [count, width] of [
    [7, 2],
    [16, 2],
    [20, 3],
    [192, 4],
  ] as const) {
    const { answers } = await decider.decide(
      { state: 'x', questions: { q: choiceOf(count) } },
      { evidence: true },
    )
    const { probabilities, evidence } = answers['q'] as ChoiceAnswer
    const codes = Array.from({ length: count }, (_, i) => {
      const digits = i.toString(4).padStart(width, '0')
      return digits.replace(/\d/g, (digit) => 'ABCD'[Number(digit)]!)
    })
    const raw = codeProbabilities(codes)
    const total = raw.reduce((sum, p) => sum + p)
    const actual = Object.values(probabilities)
    t.equal(actual.length, count)
    const error = Math.max(...raw.map((p, i) => Math.abs(p / total - actual[i]!)))
    t.ok(error < 1e-6, `${count} options: ${error}`)
    t.ok(Math.abs(evidence!.label_mass - total) < 1e-6, `${count} options: label mass`)
  }
})

t.test('with as few options as labels, a question is asked in one step', async (t) => {
  const engine = await poorEngine('ABCD', { logit })
  const readout = await createReadout(engine)
  const { input, readers } = readout.render({ state: 'x', questions: { q: choiceOf(4) } })
  t.equal(input.suffixes.length, 1)
  t.strictSame(readers[0]!.reading, { kind: 'labels', forms: [1, 1, 1, 1] })
})

t.test('yes stays yes where a noul is asked with codes', async (t) => {
  // A, the first letter in the list, is the likelier one.
  const likesA = (_: string, token: string) => (token === 'A' ? 3 : 0)
  const isWord = (word: string) => spelled(word) && word !== ' '
  const engine = createFakeEngine({ isWord, logit: likesA })
  const readout = await createReadout(engine, { maxLabels: 0 })
  const question = { type: 'noul', instructions: 'Is it?' } as const
  for (const reversed of [false, true]) {
    const { input, readers } = readout.render(
      { state: 'x', questions: { question } },
      undefined,
      reversed,
    )
    const { reading } = readers[0]!
    if (reading.kind !== 'steps') throw new Error('steps')
    const [no, yes] = reading.options.map(([steps]) => {
      const { suffix, candidate } = steps![0]!
      return input.suffixes[suffix]!.candidates[candidate]
    })
    const [a, b] = (await engine.tokenize(['A', 'B'].map((text) => ({ text, trusted: true })))).map(
      (ids) => ids[0],
    )
    t.strictSame([no, yes], reversed ? [a, b] : [b, a])
    t.match(input.suffixes[0]!.parts[0]!.text, reversed ? 'A: No\nB: Yes' : 'A: Yes\nB: No')
  }
  const decider = await createDecider(await poorEngine('AB', { logit: likesA }), facts)
  const { answers } = await decider.decide({ state: 'x', questions: { question } })
  const wanted = 1 / (1 + Math.exp(-3))
  t.ok(Math.abs((answers['question'] as NoulAnswer).noul - wanted) < 1e-6)
})

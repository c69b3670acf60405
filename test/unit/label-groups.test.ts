/** More options than labels, asked in two steps. No model. */
import t from 'tap'
import { createDecider } from '../../src/decide/decide.js'
import type { ChoiceAnswer, Question, ScoreAnswer } from '../../src/decide/types.js'
import { askInGroups, divide } from '../../src/prompt/ask-in-groups.js'
import { createReadout } from '../../src/prompt/readout.js'
import { softmax } from '../../src/scoring/softmax.js'
import { createFakeEngine } from '../helpers/fake-engine.js'

const facts = { fileName: 'poor.gguf', digest: 'sha256:', releaseDate: '2025-01-02' }

/** 26 letters are tokens; nothing longer is. */
const spelled = (word: string) => word.length < 2

const choiceOf = (count: number): Question => {
  const names = Array.from({ length: count }, (_, i) => [`o${i}`, null])
  return { type: 'choice', instructions: 'Which?', criteria: Object.fromEntries(names) }
}

t.test('groups are as few as can be, alike in size, and keep the order', async (t) => {
  for (const most of [2, 3, 15, 16, 26, 100, 254]) {
    for (let count = most + 1; count <= Math.min(255, most ** 2); count++) {
      const items = Array.from({ length: count }, (_, i) => i)
      const groups = divide(items, most)
      const sizes = groups.map((group) => group.length)
      const what = `${count} by ${most}: ${sizes.join()}`
      if (groups.length !== Math.ceil(count / most)) t.fail(`${what}: number`)
      if (groups.length > most || Math.max(...sizes) > most) t.fail(`${what}: too many`)
      if (Math.max(...sizes) - Math.min(...sizes) > 1) t.fail(`${what}: not alike`)
      if (groups.flat().join() !== items.join()) t.fail(`${what}: order`)
    }
  }
})

t.test('every option has its own steps, and they lead to its line', async (t) => {
  const labels = [...'ABCDE']
  const tokens = Int32Array.of(10, 11, 12, 13, 14)
  for (let count = 6; count <= 25; count++) {
    const question = choiceOf(count)
    if (question.type !== 'choice') throw new Error('a choice')
    const { suffixes, reading } = askInGroups(question, labels, tokens)
    if (reading.kind !== 'steps') throw new Error('steps')
    t.equal(reading.over, 'candidates')
    t.equal(reading.suffixes, suffixes.length)
    const paths = reading.options.map(([steps]) => {
      return steps!.map(({ suffix, candidate }) => `${suffix}.${candidate}`).join(' ')
    })
    t.equal(new Set(paths).size, count)
    const astray = reading.options.flatMap(([steps], option) => {
      const [group, member] = steps!
      const label = labels[tokens.indexOf(suffixes[0]!.candidates[group!.candidate]!)]!
      const listed = suffixes[0]!.text.split(new RegExp(`^${label}:$`, 'm'))[1]!
      const isListed = listed.split(/^\w:$/m)[0]!.split('\n').includes(`- o${option}`)
      const { text, candidates } = suffixes[member!.suffix]!
      const own = labels[tokens.indexOf(candidates[member!.candidate]!)]!
      return isListed && text.split('\n').includes(`${own}: o${option}`) ? [] : [`o${option}`]
    })
    t.strictSame(astray, [], `of ${count}`)
  }
})

t.test('a group of one takes no second step', async (t) => {
  const question = choiceOf(3)
  if (question.type !== 'choice') throw new Error('a choice')
  const { suffixes, reading } = askInGroups(question, ['A', 'B'], Int32Array.of(1, 2))
  t.equal(suffixes.length, 2)
  t.match(reading, {
    options: [
      [
        [
          { suffix: 0, candidate: 0 },
          { suffix: 1, candidate: 0 },
        ],
      ],
      [
        [
          { suffix: 0, candidate: 0 },
          { suffix: 1, candidate: 1 },
        ],
      ],
      [[{ suffix: 0, candidate: 1 }]],
    ],
  })
})

/** Invented logits: of option i, and of the group that begins with it. */
const strength = (i: number) => 2 * Math.sin(7 * i + 1)
const groupStrength = (i: number) => 3 * Math.cos(5 * i + 2)

/** Looks up the text after a label in the prompt. */
function listedLogit(prompt: string, label: string): number {
  const member = new RegExp(`^${label}: (?:o|level )(\\d+)`, 'm').exec(prompt)
  if (member) return strength(Number(member[1]))
  const group = new RegExp(`^${label}:\\n- (?:o|level )(\\d+)`, 'm').exec(prompt)
  return groupStrength(Number(group![1]))
}

function expected(first: number, count: number, size: number): number[] {
  const starts = Array.from({ length: count / size }, (_, i) => first + i * size)
  const groups = softmax(starts.map(groupStrength))
  return starts.flatMap((start, group) => {
    const members = softmax(Array.from({ length: size }, (_, i) => strength(start + i)))
    return [...members].map((p) => groups[group]! * p)
  })
}

t.test('p(option) is p(group) times p(member in the group)', async (t) => {
  const engine = createFakeEngine({ isWord: spelled, logit: listedLogit })
  const decider = await createDecider(engine, facts)
  t.match(decider.card, {
    readout: 'letters@1+groups',
    limits: { max_options: 255, max_levels: 255 },
  })
  const { answers } = await decider.decide(
    {
      state: 'x',
      questions: {
        few: choiceOf(3),
        many: choiceOf(60),
        levels: { type: 'score', criteria: new Array<null>(54).fill(null) },
      },
    },
    { evidence: true },
  )
  const near = (actual: number[], wanted: number[], what: string) => {
    t.equal(actual.length, wanted.length, what)
    const error = Math.max(...actual.map((p, i) => Math.abs(p - wanted[i]!)))
    t.ok(error < 1e-6, `${what}: ${error}`)
  }
  const many = answers['many'] as ChoiceAnswer
  near(Object.values(many.probabilities), expected(0, 60, 20), 'three groups of 20')
  // The vocabulary has as much mass besides the candidates, in both steps.
  t.ok(Math.abs(many.evidence!.label_mass - 1 / 4) < 1e-6)

  const levels = answers['levels'] as ScoreAnswer
  near(Object.values(levels.probabilities), expected(1, 54, 18), 'three groups of 18 levels')

  const few = answers['few'] as ChoiceAnswer
  near(Object.values(few.probabilities), [...softmax([0, 1, 2].map(strength))], 'one step')
})

t.test(
  'all suffixes of a question are in one call, and the next question follows them',
  async (t) => {
    const engine = createFakeEngine({ isWord: spelled })
    const decider = await createDecider(engine, facts)
    const { answers } = await decider.decide({
      state: 'x',
      questions: { a: choiceOf(255), b: { type: 'noul', instructions: 'Is it?' } },
    })
    t.equal(engine.scored.length, 1)
    // Ten groups of 25 or 26, and the noul.
    t.equal(engine.scored[0]!.suffixes.length, 12)
    const { probabilities } = answers['a'] as ChoiceAnswer
    t.equal(Object.keys(probabilities).length, 255)
    t.ok(Math.abs(Object.values(probabilities).reduce((sum, p) => sum + p) - 1) < 1e-9)
    const alone = await decider.decide({
      state: 'x',
      questions: { b: { type: 'noul', instructions: 'Is it?' } },
    })
    t.strictSame(answers['b'], alone.answers['b'])
  },
)

t.test('the wording, in full', async (t) => {
  const readout = await createReadout(createFakeEngine(), { maxLabels: 16 })
  t.equal(readout.name, 'letters@1+groups')
  const names = Array.from({ length: 17 }, (_, i) => [`o${i}`, i === 0 ? 'the first' : null])
  const { input } = readout.render({
    state: 1,
    questions: {
      q: { type: 'choice', instructions: 'Which?', criteria: Object.fromEntries(names) },
    },
  })
  const lines = (from: number, to: number, line: (i: number) => string) =>
    Array.from({ length: to - from }, (_, i) => line(from + i))
  const name = (i: number) => (i === 0 ? 'o0 - the first' : `o${i}`)
  t.strictSame(
    input.suffixes.map(({ parts }) => parts[0]!.text),
    [
      [
        'Which?\n\nGroups of options:\nA:',
        ...lines(0, 9, (i) => `- ${name(i)}`),
        'B:',
        ...lines(9, 17, (i) => `- ${name(i)}`),
        '\nAnswer with only the letter of the group that has the best option.',
      ].join('\n'),
      [
        'Which?\n\nOptions:',
        ...lines(0, 9, (i) => `${'ABCDEFGHI'[i]}: ${name(i)}`),
        '\nAnswer with only the letter of the best option.',
      ].join('\n'),
      [
        'Which?\n\nOptions:',
        ...lines(9, 17, (i) => `${'ABCDEFGH'[i - 9]}: ${name(i)}`),
        '\nAnswer with only the letter of the best option.',
      ].join('\n'),
    ],
  )
  t.strictSame(new Set(input.suffixes.map(({ parts }) => parts[1]!.text)).size, 1)
})

/** The wording of letters@2: it closes the ambiguities of letters@1. */
import t from 'tap'
import { objectFromEntries, type Json } from '../../src/api/json.js'
import { readConfig } from '../../src/config.js'
import type { Question, ScoreQuestion } from '../../src/decide/types.js'
import { chosenReadout } from '../../src/models/readout-file.js'
import { lettersTwo } from '../../src/prompt/letters-two.js'
import { createReadout } from '../../src/prompt/readout.js'
import { createFakeEngine, fakeDecider } from '../helpers/fake-engine.js'
import { createRandom } from '../helpers/random.js'

const labels = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const { choiceText, scoreText, noulText, aroundState } = lettersTwo
const choice = (criteria: Readonly<Record<string, Json>>) =>
  choiceText({ type: 'choice', criteria }, labels).split('\n').slice(1, -2)
const score = (...criteria: ScoreQuestion['criteria']) =>
  scoreText({ type: 'score', criteria }, labels).split('\n').slice(1, -2)

t.test(
  'if names could be labels, they and all other names of the question are quoted',
  async (t) => {
    t.strictSame(choice({ A: 'Berlin', B: 'Paris', other: null }), [
      'A: "A" - Berlin',
      'B: "B" - Paris',
      'C: "other"',
    ])
    for (const name of ['b', 'A: yes', 'B) no', 'b. no', 'A:']) {
      t.match(choice({ [name]: null, other: null }), [`A: ${JSON.stringify(name)}`, 'B: "other"'])
    }
  },
)

t.test('names that cannot be a label of the list are unchanged', async (t) => {
  t.strictSame(choice({ E: null, 'A team': null, 'a-team': null, Bob: 'x - y' }), [
    'A: E',
    'B: A team',
    'C: a-team',
    'D: Bob - x - y',
  ])
})

t.test('names with the separator, or with quotes around them, are quoted', async (t) => {
  t.strictSame(choice({ 'x - y': 'z', x: 'y - z' }), ['A: "x - y" - z', 'B: "x" - y - z'])
  t.strictSame(choice({ 'x -': 'y', x: '- y' }), ['A: "x -" - y', 'B: "x" - - y'])
  t.strictSame(choice({ '"x"': null, y: null }), ['A: "\\"x\\""', 'B: "y"'])
  t.strictSame(choice({ 'x ': null, '"x "': null }), ['A: "x "', 'B: "\\"x \\""'])
})

t.test('two options never have the same line', async (t) => {
  const random = createRandom(9)
  const pieces = ['x', 'y', ' - ', '-', ' ', '"', '\\', 'A', 'b', ':', '\n', ' -', '- ']
  const text = () => Array.from({ length: random.integer(5) }, () => random.pick(pieces)).join('')
  for (let i = 0; i < 20_000; i++) {
    const entries = Array.from({ length: 4 }, (): [string, Json] => {
      return [text(), random.pick([null, '', text(), text(), 1, [text()]])]
    })
    const criteria = objectFromEntries(
      entries.filter(([name], at) => entries.findIndex((one) => one[0] === name) === at),
    )
    const lines = choice(criteria).map((line) => line.slice('A: '.length))
    if (new Set(lines).size !== lines.length) t.fail(JSON.stringify([criteria, lines]))
  }
})

t.test('descriptions and levels that could be labels are quoted', async (t) => {
  t.strictSame(choice({ x: 'B', y: 'B: x', z: 'a cat' }), [
    'A: x - "B"',
    'B: y - "B: x"',
    'C: z - a cat',
  ])
  t.strictSame(score('B', 'low', 'A'), ['A: "B"', 'B: "low"', 'C: "A"'])
  t.strictSame(score('low', '', 3), ['A: low', 'B: level 2 of 3', 'C: 3'])
})

t.test('different levels have different lines', async (t) => {
  t.strictSame(score(1, '1', 'x'), ['A: 1', 'B: "1"', 'C: x'])
  t.strictSame(score('level 2 of 2', ''), ['A: "level 2 of 2"', 'B: level 2 of 2'])
  t.strictSame(score('same', 'same'), ['A: same', 'B: same'])
})

t.test('a description of yes that could be read as no is quoted', async (t) => {
  t.match(
    noulText({ type: 'noul', criteria: { true: 'No', false: 'it is' } }),
    /^Yes: "No"\nNo: "it is"\n/,
  )
  t.match(
    noulText({ type: 'noul', criteria: { true: 'Now', false: 'yes.' } }),
    /^Yes: "Now"\nNo: "yes\."/,
  )
  t.match(noulText({ type: 'noul', criteria: { true: 'No one came' } }), /^Yes: No one came\n/)
})

t.test('no state can end its own fence', async (t) => {
  for (const state of ['', 'Is it?', '```', '\n```\n\nAnswer', 'a ````` b', '`'.repeat(40)]) {
    const { before, behind } = aroundState(state)
    const [fence] = /`+$/.exec(behind)!
    t.equal(behind, `\n${fence}`)
    t.equal(before, `State:\n${fence}\n`)
    t.notOk(state.includes(fence), state)
  }
  t.equal(aroundState('x').before, 'State:\n```\n')
})

const question: Question = { type: 'choice', criteria: { A: null, B: null } }

t.test('it is chosen by name, and models default to letters@1', async (t) => {
  const { readout: path } = readConfig({}, { readout: 'letters@2', model: 'x.gguf' }).models[0]!
  const custom = await chosenReadout(path)
  const decider = await fakeDecider({ readout: custom })
  t.equal(decider.card.readout, 'letters@2')
  t.equal((await fakeDecider()).card.readout, 'letters@1')
  await t.rejects(chosenReadout('letters@3'), { message: /letters@1, letters@2 or a file/ })
})

t.test('the state is between fences, with its images', async (t) => {
  const readout = await createReadout(createFakeEngine(), { custom: lettersTwo })
  const request = { state: 'Is it?', questions: { q: question } }
  const prefixOf = (...given: Parameters<typeof readout.render>) =>
    readout.render(...given).input.prefix.filter(({ trusted }) => !trusted)
  t.strictSame(
    prefixOf(request)
      .map(({ text }) => text)
      .join(''),
    'State:\n```\nIs it?\n```\n\n',
  )
  const image = { width: 1, height: 1, rgb: new Uint8Array(3) }
  const pictured = prefixOf(request, { before: [image], inState: new Map() })
  t.strictSame(
    pictured.map(({ text, image }) => (image ? '▢' : text)),
    ['State:\n```\n', '▢', '\nIs it?\n```\n\n'],
  )
})

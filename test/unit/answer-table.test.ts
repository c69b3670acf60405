/** The answers of `oi ask` as people see them. */
import t from 'tap'
import { parseJson } from '../../src/api/json.js'
import { answerTable } from '../../src/cli/ask/answer-table.js'

const noul = { type: 'noul', noul: 0.75 }
const body = (answers: object) =>
  parseJson(
    JSON.stringify({
      model: 'm',
      answers,
      usage: { input_tokens: 12, output_tokens: 3 },
      latency_ms: 1.25,
    }),
  )
const table = (answers: object, request = {}, colours = false) =>
  answerTable(body(answers), request, { colours })
const choice = (names: readonly string[]) => ({
  type: 'choice',
  choice: names[0],
  probabilities: Object.fromEntries(
    names.map((name, i) => [name, i === 0 ? 0.5 : 0.5 / names.length]),
  ),
  confidence: 0.25,
})

t.test('one block for each question, then usage and time', async (t) => {
  const text = table(
    {
      money: noul,
      team: choice(['billing', 'other']),
      rush: {
        type: 'score',
        score: 0.5,
        probabilities: { 0: 0.5, 1: 0.5 },
        legend: { 0: 'low', 1: { level: 'high' } },
        confidence: 0,
      },
    },
    { questions: { money: { instructions: 'Is it\nmoney?' } } },
  )
  const row = (label: string, cells: number, percent: string) =>
    label.padEnd(29) + '█'.repeat(cells).padEnd(42) + percent.padStart(8)
  t.strictSame(text.split('\n'), [
    'money: yes',
    '  Is it money?',
    row('▸ yes', 30, '75.0 %'),
    row('  no', 10, '25.0 %'),
    '',
    'team: billing (confidence 0.25)',
    row('▸ billing', 20, '50.0 %'),
    row('  other', 10, '25.0 %'),
    '',
    'rush: 0.50 of 0 to 1 (confidence 0.00)',
    row('▸ 0 low', 20, '50.0 %'),
    row('▸ 1 {"level":"high"}', 20, '50.0 %'),
    '',
    'm: 12 tokens in, 3 out, 1.3 ms',
    '',
  ])
})

t.test('nothing is wider than 80 columns, whatever the names', async (t) => {
  const long = 'word '.repeat(40)
  const text = table(
    { [long]: choice([long, `x${long}`]) },
    { questions: { [long]: { instructions: long } } },
  )
  for (const line of text.split('\n')) t.ok(line.length <= 80, line)
  t.match(text, /…/)
})

t.test('wide characters count twice, so that bars stay in line', async (t) => {
  const lines = table({ q: choice(['日本', 'ab']) }).split('\n')
  t.equal(lines[1]!.indexOf('█'), lines[2]!.indexOf('█') - 2)
})

t.test('a name cannot move the cursor', async (t) => {
  const text = table({ 'a\u001b[2Jb': choice(['x\u001b[1A\ry', '\u202ez']) })
  t.notMatch(text, /[\u001b\r\u202e]/)
})

t.test('of many options the likeliest are shown, and the sum of the others', async (t) => {
  const text = table({ q: choice(Array.from({ length: 40 }, (_, i) => `option ${i}`)) })
  t.equal(text.match(/option/g)!.length, 1 + 12)
  t.match(text, /and 28 more +█+. +35.0 %/)
})

t.test('label mass and order spread are shown if there is evidence', async (t) => {
  const once = table({ q: { ...noul, evidence: { label_mass: 0.985 } } })
  t.match(once, /^ {2}label mass 98.5 %$/m)
  t.notMatch(once, 'order spread')
  const evidence = { label_mass: 0.5, order_spread: 0.031 }
  t.match(table({ q: { ...noul, evidence } }), / {2}label mass 50.0 %\n {2}order spread 3.1 %\n/)
})

t.test('colours only when asked for', async (t) => {
  t.match(table({ q: noul }, {}, true), '\u001b[32m')
  t.notMatch(table({ q: noul }), '\u001b')
})

t.test('a reply in another form is refused', async (t) => {
  t.throws(() => answerTable({ hello: 1 }, {}, { colours: false }), { code: 'ERR_REMOTE' })
})

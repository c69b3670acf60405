/** Labelled files: which lines are rows, and the errors of others. */
import t from 'tap'
import { join } from 'node:path'
import { keysOf } from '../../src/api/json.js'
import { rowsOf } from '../../src/evaluate/rows/rows.js'
import { RowsFile } from '../../src/evaluate/rows/rows-file.js'
import { surveyRows } from '../../src/evaluate/rows/survey.js'
import { all, limits, piecesOf, rowText } from '../helpers/labelled.js'

const noul = '"n":{"type":"noul","instructions":"?"}'
const choice = '"c":{"type":"choice","criteria":{"b":null,"1":null,"a":null}}'
const score = '"s":{"type":"score","criteria":["low","high"]}'
const line = (questions: string, expected: string) =>
  `{"state":"x","questions":{${questions}}${expected === '' ? '' : `,"expected":${expected}`}}`
const read = (...lines: readonly string[]) => all(rowsOf(piecesOf(lines), limits))

t.test('a row is a request and its right answers, names in the order of the text', async (t) => {
  const text = line([noul, choice, score].join(), '{"s":1,"n":false,"c":"1"}')
  const [row] = await read(text.replace('{', '{"images":[],"model":"m","id":7,'))
  t.equal(row!.line, 1)
  t.strictSame(Object.entries(row!.expected), [
    ['s', 1],
    ['n', false],
    ['c', '1'],
  ])
  t.strictSame(keysOf(row!.request.questions['c']!.criteria!), ['b', '1', 'a'])
  t.strictSame(Object.keys(row!.request), ['images', 'state', 'questions', 'model'])
})

t.test('any line ends are accepted, and empty lines count but are not rows', async (t) => {
  const text = line(noul, '{"n":true}')
  const rows = await all(
    rowsOf(piecesOf([`${text}\r`, '', '  ', text.replace('x', 'ä€😀')]), limits),
  )
  t.strictSame(
    rows.map((row) => [row.line, row.request.state]),
    [
      [1, 'x'],
      [4, 'ä€😀'],
    ],
  )
  t.equal((await read(text, text)).length, 2)
})

t.test('a level may be written as 1.0', async (t) => {
  t.equal((await read(line(score, '{"s":1.0}')))[0]!.expected['s'], 1)
})

t.test('names of the prototype are names', async (t) => {
  const [row] = await read(line(noul.replace('"n"', '"__proto__"'), '{"__proto__":true}'))
  t.strictSame(Object.entries(row!.expected), [['__proto__', true]])
  await t.rejects(read(line(noul, '{"constructor":true}')), {
    message: /^line 1: expected.constructor: /,
  })
})

for (const [title, text, message] of [
  ['no JSON', '{"state"', 'body: not valid JSON'],
  ['no request', '{"state":"x"}', 'questions: expected an object with'],
  ['a name twice', line(`${noul},${noul}`, '{"n":true}'), 'questions.n: expected each name once'],
  ['no right answers', line(noul, ''), 'expected: expected an object with at least one'],
  ['an empty object', line(noul, '{}'), 'expected: expected .*, got an empty object'],
  ['right answers in an array', line(noul, '[true]'), 'expected: expected .*, got an array'],
  ['a right answer twice', line(noul, '{"n":true,"n":true}'), 'expected.n: expected each name'],
  ['another question', line(noul, '{"m":true}'), 'expected.m: expected the name .*, as "n"'],
  ['a noul that is no boolean', line(noul, '{"n":1}'), 'expected.n: expected true or false, got a'],
  ['an option by number', line(choice, '{"c":0}'), 'expected.c: .* an option, got a number'],
  ['another option', line(choice, '{"c":"z"}'), 'expected.c: .* an option, got "z"'],
  ['an option of all objects', line(choice, '{"c":"toString"}'), 'expected.c: .* an option'],
  ['a level too high', line(score, '{"s":2}'), 'expected.s: expected a level from 0 to 1, got 2'],
  ['a level below 0', line(score, '{"s":-1}'), 'expected.s: .* got -1'],
  ['half a level', line(score, '{"s":0.5}'), 'expected.s: .* got 0.5'],
  ['a level by name', line(score, '{"s":"low"}'), 'expected.s: .* got a string'],
] as const) {
  t.test(`${title} is refused with the line, the place and the rule`, async (t) => {
    await t.rejects(read('', line(noul, '{"n":true}'), text), {
      message: new RegExp(`^line 3: ${message}`),
    })
  })
}

t.test('bytes that are not UTF-8 are refused with the line', async (t) => {
  async function* bytes() {
    yield Buffer.from([10, 0x22, 0xff, 0x22, 10])
  }
  await t.rejects(all(rowsOf(bytes(), limits)), { message: /^line 2: body: expected UTF-8/ })
})

t.test('a line without end does not fill the memory', async (t) => {
  async function* bytes() {
    const piece = Buffer.alloc(2 ** 20, 0x20)
    for (let i = 0; i < 100; i++) yield piece
  }
  await t.rejects(all(rowsOf(bytes(), limits)), { message: /^line 1: expected at most 67108864/ })
})

t.test('the survey counts rows and recognises the file', async (t) => {
  const dir = t.testdir({
    a: `${rowText(1)}\n\n${rowText(2)}\n`,
    b: `${rowText(1)}\n\n${rowText(3)}\n`,
    bad: `${rowText(1)}\n[]\n`,
  })
  const seen: number[] = []
  const open = (name: string) => RowsFile.open(join(dir, name))
  const a = await surveyRows(await open('a'), limits, {
    onProgress: (fraction) => seen.push(fraction),
  })
  t.equal(a.rows, 2)
  t.match(a.digest, /^sha256:[0-9a-f]{64}$/)
  t.equal(seen.at(-1), 1)
  t.strictSame(await surveyRows(await open('a'), limits), a)
  t.not((await surveyRows(await open('b'), limits)).digest, a.digest)
  await t.rejects(surveyRows(await open('bad'), limits), { message: /^line 2: body: expected an/ })
})

t.test('the survey names options that no choice with a right answer has', async (t) => {
  const choice = { type: 'choice', criteria: { red: null, rest: null } }
  const unlabelled = { type: 'choice', criteria: { red: null, other: null } }
  const row = { state: '', questions: { a: choice, b: unlabelled }, expected: { a: 'red' } }
  const file = await RowsFile.open(join(t.testdir({ rows: `${JSON.stringify(row)}\n` }), 'rows'))
  const { missing } = await surveyRows(file, limits, { others: ['rest', 'other', 'Rest'] })
  t.strictSame(missing, ['other', 'Rest'])
  t.strictSame((await surveyRows(file, limits)).missing, [])
})

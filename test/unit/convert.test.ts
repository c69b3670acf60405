/** Public data to labelled rows. */
import t from 'tap'
import { rowsOf } from '../../scripts/convert/rows.js'
import { readers } from '../../scripts/convert/sets.js'
import { rowsOf as readRowsOf } from '../../src/evaluate/rows/rows.js'
import { all, limits, piecesOf } from '../helpers/labelled.js'
import { createRandom } from '../helpers/random.js'

const banking = {
  'categories.json': '["card","cash","fee"]',
  'test.csv': 'text,category\nWhere is it?,card\n"So, how much?",fee\nNo notes,cash\n',
}
const clinc = {
  'domains.json': '{"a":["x","y"],"b":["z"]}',
  'val.jsonl': '{"text":"one","intent":"x"}\n{"text":"two","intent":"z"}\n',
  'oos_val.jsonl': '{"text":"else","intent":"oos"}\n',
}
const options = (seed: number, more = {}) => ({
  outOfScope: true,
  random: createRandom(seed),
  ...more,
})

t.test('oi eval reads every row, with all intents as options', async (t) => {
  const set = readers['banking77']!(t.testdir(banking), 'test')
  const rows = await all(readRowsOf(piecesOf(rowsOf(set, options(1))), limits))
  t.strictSame(
    rows.map(({ request, expected }) => [request.state, expected['intent']]).toSorted(),
    [
      ['No notes', 'cash'],
      ['So, how much?', 'fee'],
      ['Where is it?', 'card'],
    ],
  )
  for (const { request } of rows) {
    t.strictSame(Object.keys(request.questions['intent']!.criteria!), ['card', 'cash', 'fee'])
  }
})

t.test(
  'a number of options are the right one and others, the same for the same seed',
  async (t) => {
    const set = readers['banking77']!(t.testdir(banking), 'test')
    const lines = (seed: number) => [...rowsOf(set, options(seed, { options: 2 }))]
    t.strictSame(lines(1), lines(1))
    t.not(lines(1).join(), lines(2).join())
    for (const { request, expected } of await all(readRowsOf(piecesOf(lines(1)), limits))) {
      const names = Object.keys(request.questions['intent']!.criteria!)
      t.equal(names.length, 2)
      t.ok(names.includes(String(expected['intent'])))
    }
    t.equal([...rowsOf(set, options(1, { limit: 1 }))].length, 1)
  },
)

t.test('out of scope is an option of every row, or of none', async (t) => {
  const set = readers['clinc150']!(t.testdir(clinc), 'val')
  const read = async (more: object) => {
    const rows = await all(readRowsOf(piecesOf(rowsOf(set, options(1, more))), limits))
    return rows
      .map(({ request, expected }) => [
        String(expected['intent']),
        Object.keys(request.questions['intent']!.criteria!).length,
        'oos' in (request.questions['intent']!.criteria as object),
      ])
      .toSorted()
  }
  t.strictSame(await read({}), [
    ['oos', 4, true],
    ['x', 4, true],
    ['z', 4, true],
  ])
  t.strictSame(await read({ options: 2 }), [
    ['oos', 2, true],
    ['x', 2, true],
    ['z', 2, true],
  ])
  t.strictSame(await read({ outOfScope: false }), [
    ['x', 3, false],
    ['z', 3, false],
  ])
})

t.test('other data sets are refused', async (t) => {
  const banking77 = readers['banking77']!
  t.throws(() => banking77(t.testdir({ ...banking, 'test.csv': 'a,b\n' }), 'test'), {
    message: /columns text and category/,
  })
  t.throws(() => banking77(t.testdir({ ...banking, 'test.csv': 'text,category\nx,y\n' }), 'test'), {
    message: /row 1 .* no intent of the set: "y"/,
  })
  t.throws(() => banking77(t.testdir(banking), 'train'), { message: /train\.csv/ })
})

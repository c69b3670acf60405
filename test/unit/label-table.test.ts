/** The script of the vocabulary table: what it accepts, and what it writes. */
import t from 'tap'
import { replaceBetween, textBetween } from '../../scripts/markdown.js'
import { checkOptions } from '../../scripts/tables/check-options.js'
import { tableOf } from '../../scripts/tables/labels.js'
import { createReadout } from '../../src/prompt/readout.js'
import { createFakeEngine } from '../helpers/fake-engine.js'

const engine = createFakeEngine()
const names = Array.from({ length: 40 }, (_, i) => `option ${i}`)
const criteria = Object.fromEntries(names.map((name) => [name, null]))
const { input, readers } = (await createReadout(engine)).render({
  state: 'x',
  questions: { q: { type: 'choice', criteria } },
})

/** The same with its candidates changed. */
function check(change: (candidates: Int32Array) => Int32Array, listed = names): Promise<number> {
  const [suffix] = input.suffixes
  const suffixes = [{ ...suffix!, candidates: change(suffix!.candidates) }]
  return checkOptions(engine, { input: { ...input, suffixes }, readers }, listed)
}

t.test('labels pass the check, which counts the tokens of the question', async (t) => {
  t.ok((await check((candidates) => candidates)) > 40 * 5)
})

t.test('candidates in another order, and two that are one, are detected', async (t) => {
  await t.rejects(
    check((candidates) => candidates.toReversed()),
    { message: /^option 0: its label A is another token/ },
  )
  await t.rejects(
    check((candidates) => candidates.with(1, candidates[0]!)),
    { message: /^option 1: / },
  )
})

t.test('an option that is not listed is detected', async (t) => {
  await t.rejects(
    check((candidates) => candidates, ['option x', ...names.slice(1)]),
    { message: 'option x: is not listed' },
  )
})

const row = { vocabulary: 'x', size: 1000, labels: { chat: 400, plain: 30 }, tokens: 1560 }

t.test('the table is put between its marks, and found there', async (t) => {
  const table = tableOf([row])
  t.match(table.split('\n')[2], /\| 400 +\| 30 +\| 1,560 +\|$/)
  t.equal(new Set(table.split('\n').map((line) => line.length)).size, 1)
  const place = { guide: 'README.md', command: 'npm run x' }
  const [begin, end] = ['<!-- npm run x: begin -->', '<!-- npm run x: end -->']
  const readme = `before\n\n${begin}\n\nold\n\n${end}\n\nbehind\n`
  const written = replaceBetween(readme, place, table)
  t.equal(textBetween(written, place), table)
  t.equal(replaceBetween(written, place, 'old'), readme)
  for (const without of ['', begin, `${end}${begin}`]) {
    t.throws(() => textBetween(without, place), { message: /^The marks .* are missing$/ })
  }
})

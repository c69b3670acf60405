/** The script of the vocabulary table: what it accepts, and what it writes. */
import t from 'tap'
import { checkOptions } from '../../scripts/label-table/check.js'
import { marks, tableOf } from '../../scripts/label-table/table.js'
import { replaceBetween, textBetween } from '../../scripts/markdown.js'
import { createReadout } from '../../src/prompt/readout.js'
import type { Rendering } from '../../src/prompt/types.js'
import { createFakeEngine, type FakeEngine } from '../helpers/fake-engine.js'

const rich = createFakeEngine()
/** Codes of two letters are spelled. */
const poor = createFakeEngine({ isWord: (word) => word.length !== 2 || word.startsWith(' ') })
/** Each way, with an engine and the labels that it may use. */
const ways = [
  [rich, 255],
  [poor, 26],
  [poor, 0],
] as const
const names = Array.from({ length: 40 }, (_, i) => `option ${i}`)

async function renderingWith(engine: FakeEngine, maxLabels: number): Promise<Rendering> {
  const readout = await createReadout(engine, { maxLabels })
  const criteria = Object.fromEntries(names.map((name) => [name, null]))
  return readout.render({ state: 'x', questions: { q: { type: 'choice', criteria } } })
}

/** The same with the candidates of one suffix replaced. */
function withCandidates(
  { input, readers }: Rendering,
  at: number,
  change: (candidates: Int32Array) => Int32Array,
): Rendering {
  const suffixes = input.suffixes.map((suffix, i) =>
    i === at ? { ...suffix, candidates: change(suffix.candidates) } : suffix,
  )
  return { input: { ...input, suffixes }, readers }
}

t.test('labels, groups and codes pass the check, which reports their cost', async (t) => {
  const counts: number[] = []
  for (const [engine, maxLabels] of ways) {
    const rendering = await renderingWith(engine, maxLabels)
    const { suffixes, tokens } = await checkOptions(engine, rendering, names)
    t.ok(tokens > 40 * 5, `${tokens} tokens`)
    counts.push(suffixes)
  }
  // Spelled codes AA to BN: read first, after A, and after B.
  t.strictSame(counts, [1, 3, 3])
})

t.test('candidates in another order are detected', async (t) => {
  for (const [engine, maxLabels] of ways) {
    const rendering = await renderingWith(engine, maxLabels)
    for (const at of rendering.input.suffixes.keys()) {
      const turned = withCandidates(rendering, at, (candidates) => candidates.toReversed())
      await t.rejects(checkOptions(engine, turned, names), { message: /^option \d+: its label / })
    }
  }
})

t.test('a place after another text is detected', async (t) => {
  const { input, readers } = await renderingWith(poor, 0)
  const suffixes = input.suffixes.map((suffix, i) => ({
    ...suffix,
    parts: i === 1 ? input.suffixes[2]!.parts : suffix.parts,
  }))
  await t.rejects(checkOptions(poor, { input: { ...input, suffixes }, readers }, names), {
    message: 'option 0: step 2 is not read after the steps before it',
  })
})

t.test('two options at one place, and an option that is not listed, are detected', async (t) => {
  const { input, readers } = await renderingWith(poor, 0)
  const { reading } = readers[0]!
  if (reading.kind !== 'steps') throw new Error('steps')
  const [first, , ...others] = reading.options
  const doubled = { ...reading, options: [first!, first!, ...others] }
  const twice = { input, readers: [{ ...readers[0]!, reading: doubled }] }
  await t.rejects(checkOptions(poor, twice, names), { message: /^option 1: / })
  await t.rejects(checkOptions(poor, { input, readers }, ['option x', ...names.slice(1)]), {
    message: 'option x: is not listed',
  })
})

const way = { readout: 'letters@1', suffixes: 1, tokens: 1560 }
const row = { vocabulary: 'x', size: 1000, labels: { chat: 400, plain: 30 }, ways: [way] }

t.test('the table is put between its marks, and found there', async (t) => {
  const groups = { readout: 'letters@1+groups', suffixes: 11, tokens: 3160 }
  const trie = { readout: 'letters@1+trie', suffixes: 1, tokens: 9 }
  const table = tableOf([{ ...row, ways: [way, groups, trie] }])
  t.match(
    table.split('\n')[2],
    '| one step, 1,560 tokens | groups, 11 texts, 3,160 tokens | trie, 9',
  )
  t.equal(new Set(table.split('\n').map((line) => line.length)).size, 1)
  const readme = `before\n\n${marks.begin}\n\nold\n\n${marks.end}\n\nbehind\n`
  const written = replaceBetween(readme, marks, table)
  t.equal(textBetween(written, marks), table)
  t.equal(replaceBetween(written, marks, 'old'), readme)
  for (const without of ['', marks.begin, `${marks.end}${marks.begin}`]) {
    t.throws(() => textBetween(without, marks), { message: /^The marks .* are missing$/ })
  }
})

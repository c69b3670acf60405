/** Saved observations, and rows that are asked. */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RowsFile } from '../../src/evaluate/rows/rows-file.js'
import { askRows } from '../../src/evaluate/calibrate/ask-rows.js'
import { readObservations } from '../../src/evaluate/calibrate/read-observations.js'
import type { DecideRequest, Decision } from '../../src/decide/types.js'
import { OiError } from '../../src/errors.js'
import type { LabelledRow } from '../../src/evaluate/rows/types.js'
import { decision } from '../helpers/stub.js'

const good = {
  ...{ question: 'team', type: 'choice', logits: [1, 2.5, null], probabilities: [0.2, 0.8, 0] },
  right: 1,
}

function fileOf(t: { testdir: () => string }, ...lines: readonly object[]): string {
  const path = join(t.testdir(), 'seen.jsonl')
  writeFileSync(path, lines.map((line) => JSON.stringify(line)).join('\n'))
  return path
}

const observationsIn = async (path: string) =>
  readObservations((await RowsFile.open(path)).pieces())

t.test('lines are observations, each its own row unless it names one', async (t) => {
  const path = fileOf(t, good, { ...good, right: 0 }, { ...good, row: 7 }, { ...good, row: '7' })
  const [first, second, third, fourth] = await observationsIn(path)
  t.match(first, { question: 'team', type: 'choice', logits: [1, 2.5, -Infinity], right: 1 })
  t.not(first!.row, second!.row)
  t.equal(third!.row, fourth!.row)
})

for (const [what, change, message] of [
  ['a single logit', { logits: [1] }, /^line 2: logits: expected at least 2 numbers, got \[1\]/],
  ['a third logit of a noul', { type: 'noul' }, /^line 2: logits: expected 2 numbers/],
  ['a logit that is text', { logits: [1, 'x', 2] }, /^line 2: logits: expected numbers, got "x"/],
  ['no possible option', { logits: [null, null] }, /^line 2: logits: expected at least one number/],
  ['no logits', { logits: undefined }, /^line 2: logits: expected a list, got nothing/],
  ['an unknown type', { type: 'rank' }, /^line 2: type: expected noul, choice or score/],
  ['no such option', { right: 3 }, /^line 2: right: expected an integer from 0 to 2, got 3/],
  ['half an option', { right: 0.5 }, /^line 2: right: /],
  ['too few probabilities', { probabilities: [0.5, 0.5] }, /^line 2: probabilities: expected 3/],
  ['a wrong sum', { probabilities: [0.5, 0.5, 0.5] }, /^line 2: probabilities: .*the sum 1/],
  ['no question', { question: 1 }, /^line 2: question: expected a text, got 1/],
  ['a row that is none', { row: null }, /^line 2: row: expected a text or a number/],
] as const) {
  t.test(`${what} is refused with its line`, async (t) => {
    const path = fileOf(t, good, { ...good, ...change })
    await t.rejects(observationsIn(path), { code: 'ERR_BODY_INVALID', message })
  })
}

t.test('text that is not a JSON object is refused, and a missing file too', async (t) => {
  await t.rejects(observationsIn(fileOf(t, [1])), { message: /^line 1: expected an object/ })
  const path = join(t.testdir({ bad: '{' }), 'bad')
  await t.rejects(observationsIn(path), { message: /^line 1: not valid JSON/ })
  await t.rejects(observationsIn(`${path}.none`), { code: 'ERR_CONFIG' })
})

const row = (line: number): LabelledRow => ({
  line,
  request: { state: line % 50, questions: { q: { type: 'noul', instructions: '?' } } },
  record: { line, json: null },
  expected: { q: line % 2 === 0 },
})

async function* rowsTo(count: number) {
  for (let line = 1; line <= count; line++) yield row(line)
}

function decisionOn({ state }: DecideRequest): Decision {
  const evidence = { label_mass: 1, logits: [0, Number(state)], temperature: 1 }
  return { ...decision, answers: { q: { type: 'noul', noul: 0.5, evidence } } }
}

t.test('rows are asked several at a time, never all, and stay in order', async (t) => {
  let [running, most] = [0, 0]
  const counts: number[] = []
  const observations = await askRows(
    rowsTo(100),
    async (request) => {
      most = Math.max(most, ++running)
      // Later rows are ready first.
      for (let i = 100 - Number(request.state); i > 0; i--) await Promise.resolve()
      running--
      return decisionOn(request)
    },
    { onRow: (count) => counts.push(count) },
  )
  t.ok(most > 1 && most <= 16, `${most}`)
  t.strictSame(
    observations.map(({ logits }) => logits[1]),
    Array.from({ length: 100 }, (_, i) => (i + 1) % 50),
  )
  t.strictSame(observations[3]!.right, 1)
  t.equal(observations[0]!.row, observations[50]!.row)
  t.not(observations[0]!.row, observations[1]!.row)
  t.equal(counts.at(-1), 100)
})

t.test('the first row that fails ends the run, with its line', async (t) => {
  const failing = async (request: DecideRequest) => {
    if (Number(request.state) < 30) return decisionOn(request)
    throw new OiError('ERR_STATE_TOO_LONG', 'state: too long', { param: 'state' })
  }
  await t.rejects(askRows(rowsTo(45), failing), {
    code: 'ERR_STATE_TOO_LONG',
    message: /^line 30: state: too long/,
  })
})

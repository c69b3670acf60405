/** Calibrations that should not be used. */
import t from 'tap'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { calibrate } from '../../src/evaluate/calibrate/calibrate.js'
import { doubtsOf } from '../../src/evaluate/calibrate/doubts.js'
import { figuresOf } from '../../src/evaluate/calibrate/figures.js'
import type { RowObservation } from '../../src/evaluate/calibrate/sample.js'
import { ended, RunningCommand } from '../helpers/command.js'
import { createRandom } from '../helpers/random.js'
import { plainSoftmax, synthetic } from '../helpers/synthetic.js'

const options = { share: 0.3, seed: 1, repetitions: 10 }
const doubts = (rows: readonly RowObservation[]) => doubtsOf(calibrate(rows, options))
const good = (count: number, type: 'noul' | 'choice' = 'noul', temperature = 3) =>
  synthetic(createRandom(7), { type, options: type === 'noul' ? 2 : 4, count, temperature })

t.test('rows on which a model is miscalibrated raise no doubt', async (t) => {
  t.strictSame(doubts([...good(400), ...good(400, 'choice')]), [])
})

t.test('labels of one side are doubted', async (t) => {
  const nouls = good(400)
  for (const [what, rows] of [
    ['all yes', nouls.map((row) => ({ ...row, right: 1 }))],
    ['all no', nouls.map((row) => ({ ...row, right: 0 }))],
    ['four of no', nouls.map((row, i) => ({ ...row, right: i < 4 ? 0 : 1 }))],
  ] as const) {
    t.match(
      doubts(rows).join('\n'),
      /^noul: one-sided labels: yes is right \d+ times and no \d+/m,
      what,
    )
  }
  const first = good(400, 'choice').map((row) => ({ ...row, right: 0 }))
  t.match(
    doubts(first).join('\n'),
    /^choice: one-sided labels: option 1 of the list is right in all 400/m,
  )
})

t.test('too few answers of a type are doubted, however many other types have', async (t) => {
  t.match(
    doubts([...good(400), ...good(30, 'choice')]).join('\n'),
    /^choice: too few answers: .* got \d+ and \d+/m,
  )
  t.match(doubts(good(20)).join('\n'), /^noul: too few answers/m)
})

t.test('a fit that is worse on held-out rows is doubted', async (t) => {
  const rows = good(400, 'choice')
  const calibrated = calibrate(rows, options)
  const before = calibrated.heldOut.types.choice!.after
  const after = { ...before, logLoss: before.logLoss + 0.01 }
  const heldOut = { ...calibrated.heldOut, types: { choice: { before, after } } }
  t.match(doubtsOf({ ...calibrated, heldOut }), [
    /^choice: the fit is worse on held-out rows: log loss/,
  ])
  t.strictSame(figuresOf(calibrated.answered.heldOut).logLoss, before.logLoss)
})

t.test('temperatures and biases out of bounds are doubted', async (t) => {
  const right = Array.from({ length: 400 }, (_, i): RowObservation => {
    const logits = [0, 0, 0].map((_, option) => (option === i % 3 ? 0.02 : 0))
    const probabilities = plainSoftmax(logits)
    return { question: 'q', type: 'choice', logits, probabilities, right: i % 3, row: String(i) }
  })
  t.match(
    doubts(right).join('\n'),
    /^choice: the temperature is out of bounds: expected 0\.05 to 20, got 0\.0/m,
  )
  const wrong = right.map((row) => ({
    ...row,
    logits: row.logits.map((l) => l * 2000),
    right: (row.right + 1) % 3,
  }))
  t.match(doubts(wrong).join('\n'), /^choice: the temperature is out of bounds: .* got [1-9]/m)
  const calibrated = calibrate(good(400), options)
  const types = { noul: { ...calibrated.types.noul!, bias: -14 } }
  t.match(doubtsOf({ ...calibrated, types }), [/^noul: the bias is out of bounds: .* got -14/])
})

const run = (args: readonly string[]) => ended(new RunningCommand(['calibrate', ...args], 'fake'))
const lines = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n')

t.test('a doubted calibration is written with --force only', async (t) => {
  const wet = { type: 'noul', instructions: 'Is it wet?' }
  const rows = Array.from({ length: 100 }, (_, i) => ({
    ...{ state: `Ticket ${i}`, questions: { wet }, expected: { wet: true } },
  }))
  const dir = t.testdir({ 'rows.jsonl': lines(rows), 'c.json': 'as it was' })
  const out = join(dir, 'c.json')
  const args = [join(dir, 'rows.jsonl'), '--model', 'fake.gguf', '--out', out]
  const refused = await run(args)
  t.equal(refused.code, 1, refused.stderr)
  t.match(refused.stderr, /c\.json was not written, .*--force.*\n- noul: one-sided labels: yes/)
  t.match(refused.stdout, /answers fitted/)
  t.equal(readFileSync(out, 'utf8'), 'as it was')
  const shown = await run([...args, '--json'])
  t.equal(shown.code, 1)
  t.match(JSON.parse(shown.stdout), { doubts: [/one-sided/] })

  const forced = await run([...args, '--force'])
  t.equal(forced.code, 0, forced.stderr)
  t.match(forced.stdout, /^Doubt: noul: one-sided[^]*^Written to /m)
  t.match(JSON.parse(readFileSync(out, 'utf8')), { format: 'oi-calibration@1' })
})

t.test('without a model doubts are reported, and nothing is refused', async (t) => {
  const dir = t.testdir({ 'seen.jsonl': lines(good(20)) })
  const ran = await run(['--observations', join(dir, 'seen.jsonl')])
  t.equal(ran.code, 0, ran.stderr)
  t.match(ran.stdout, /^Doubt: noul: too few answers[^]*^Nothing was written/m)
  t.notOk(existsSync(join(dir, 'seen.jsonl.calibration.json')))
})

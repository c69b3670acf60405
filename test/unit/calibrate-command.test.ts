/** How `oi calibrate` ends on wrong usage or a bad row; over an engine without a model. */
import t from 'tap'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWire } from '../../src/server/create-wire.js'
import { run } from '../../src/cli/run.js'
import { rowKey, splitRows } from '../../src/evaluate/calibrate/split.js'
import type { ChoiceAnswer, DecideRequest, NoulAnswer } from '../../src/decide/types.js'
import { readCalibration } from '../../src/models/calibration-file.js'
import { chosenReadout } from '../../src/models/readout-file.js'
import type { ChosenReadout } from '../../src/prompt/custom/types.js'
import { fakeDecider } from '../helpers/fake-engine.js'

const wet = { type: 'noul', instructions: 'Is it wet?' }
const row = { state: 'It rains.', questions: { wet }, expected: { wet: true } }
const observation = {
  ...{ question: 'wet', type: 'noul', logits: [0, 1], probabilities: [0.3, 0.7], right: 1 },
}

/** Runs the command in this process. @returns The exit code and standard error. */
async function calibrate(t: Tap, args: readonly string[], readout?: ChosenReadout) {
  const written = t.capture(process.stderr, 'write', () => true)
  const decider = await fakeDecider({ readout })
  const code = await run(['node', 'oi', 'calibrate', ...args], {
    surveyModel: async () => Promise.reject(new Error('nobody asks')),
    openModel: async () => ({
      decider,
      temperatures: decider.temperatures,
      startLine: '',
      warning: undefined,
      device: 'CPU',
      prepare: async () => () => {},
      close: async () => {},
    }),
    createWire,
    environment: {},
    exit: () => {},
  })
  const stderr = written()
    .map(({ args }) => String(args[0]))
    .join('')
  return { code, stderr }
}

interface Tap {
  capture: (
    target: NodeJS.WriteStream,
    method: 'write',
    instead: () => boolean,
  ) => () => { args: unknown[] }[]
}

t.test('wrong usage ends with 2 and the expected usage', async (t) => {
  const dir = t.testdir({
    'seen.jsonl': JSON.stringify(observation),
    'rows.jsonl': JSON.stringify(row),
    'none.jsonl': '',
  })
  const seen = ['--observations', join(dir, 'seen.jsonl')]
  for (const [args, message] of [
    [[], /Expected a file of labelled rows, or --observations <file>/],
    [[join(dir, 'rows.jsonl'), ...seen], /Expected a file of labelled rows, or/],
    [[...seen, '--held-out', '1'], /--held-out: expected a number above 0 and below 1, got 1/],
    [[...seen, '--decide', 'x'], /--decide: expected a number above 0/],
    [[...seen, '--seed', '-1'], /--seed: expected an integer from 0/],
    [[...seen, '--out', 'c.json'], /--out needs --model/],
    [[join(dir, 'rows.jsonl')], /got 0 and 1: give more rows/],
    [['--observations', join(dir, 'none.jsonl')], /got 0 and 0/],
    [['--observations', join(dir, 'x.jsonl')], /x\.jsonl: there is no such file/],
    [[...seen, '--confidence', ''], /--confidence: expected a number/],
  ] as const) {
    const ran = await calibrate(t, args)
    t.equal(ran.code, 2, args.join(' '))
    t.match(ran.stderr, message)
  }
})

t.test("an unreadable or refused row ends the command with 1 and the row's line", async (t) => {
  const many = { type: 'choice', criteria: Object.fromEntries(Array(256).fill(null).entries()) }
  const dir = t.testdir({
    'short.jsonl': `${JSON.stringify(row)}\n{"state":"x"}\n`,
    'other.jsonl': JSON.stringify({ ...row, model: 'another' }),
    'many.jsonl': JSON.stringify({ state: 1, questions: { many }, expected: { many: '3' } }),
  })
  for (const [name, message] of [
    ['short', /line 2: /],
    ['other', /line 1: model: .*another/],
    ['many', /line 1: questions\.many\.criteria: expected 1 to 255 options, got 256/],
  ] as const) {
    const ran = await calibrate(t, [join(dir, `${name}.jsonl`), '--model', 'fake.gguf'])
    t.equal(ran.code, 1)
    t.match(ran.stderr, message)
  }
})

t.test(
  'what is measured after the fit is what the model answers on top of its own temperatures',
  async (t) => {
    const dir = t.testdir({
      'r.json': '{"temperature":{"noul":{"temperature":3,"bias":-1},"choice":2}}',
    })
    const readout = await chosenReadout(join(dir, 'r.json'))
    const questions = { wet, team: { type: 'choice', criteria: { a: null, b: null, c: null } } }
    const rows = Array.from({ length: 300 }, (_, i) => {
      const expected = { wet: i % 3 > 0, team: i % 2 > 0 ? 'a' : 'c' }
      return { state: `Ticket ${i}`, questions, expected }
    })
    const [file, out] = [join(dir, 'rows.jsonl'), join(dir, 'c.json')]
    writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'))
    const ran = await calibrate(t, [file, '--model', 'fake.gguf', '--out', out], readout)
    t.equal(ran.code, 0, ran.stderr)
    t.match(ran.stderr, /^300 of 300 rows answered$/m)

    const written = readFileSync(out, 'utf8')
    t.match(JSON.parse(written).onTopOf, [
      { type: 'noul', from: 1, to: null, temperature: 3, bias: -1 },
      { type: 'choice', from: 1, to: null, temperature: 2 },
    ])
    const calibration = readCalibration(out, written)
    const decider = await fakeDecider({ readout, calibration })
    const named = rows.map((row) => ({ ...row, row: rowKey(row) }))
    const { heldOut } = splitRows(named, 0.3, 1)
    let loss = 0
    for (const { state, expected } of heldOut) {
      const { answers } = await decider.decide({ state, questions } as DecideRequest)
      const { noul } = answers['wet'] as NoulAnswer
      const { probabilities } = answers['team'] as ChoiceAnswer
      loss -= Math.log(expected.wet ? noul : 1 - noul) + Math.log(probabilities[expected.team]!)
    }
    const { after } = JSON.parse(written).heldOut
    t.equal(2 * heldOut.length, after.observations)
    t.ok(Math.abs(loss / after.observations - after.logLoss) < 1e-9)
  },
)

/** The calibration file: it is applied exactly, and to its own model alone. */
import t from 'tap'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { calibrate } from '../../src/evaluate/calibrate/calibrate.js'
import { calibrationFile } from '../../src/evaluate/calibrate/file.js'
import { createDecider } from '../../src/decide/decide.js'
import { chosenReadout } from '../../src/models/readout-file.js'
import { answerOf } from '../../src/scoring/answers.js'
import type { ChoiceAnswer, NoulAnswer, ScoreAnswer } from '../../src/decide/types.js'
import {
  calibrationPath,
  findCalibration,
  readCalibration,
  writeCalibration,
} from '../../src/models/calibration-file.js'
import { createFakeEngine } from '../helpers/fake-engine.js'
import { createRandom } from '../helpers/random.js'
import { plainSoftmax, synthetic } from '../helpers/synthetic.js'

const near = (actual: number, expected: number) => Math.abs(actual - expected) < 1e-12
const digest = `sha256:${'ab'.repeat(32)}`
const facts = { fileName: 'fake.gguf', digest, releaseDate: '2025-01-02' }
const content = {
  format: 'oi-calibration@1',
  model: digest,
  readout: 'letters@1',
  data: 'tickets.jsonl',
  date: '2026-01-31',
  observations: 2000,
  types: {
    noul: { temperature: 2.5, bias: -0.75 },
    choice: { temperature: 3, buckets: { '2': { temperature: 0.5 }, '3-5': { temperature: 4 } } },
  },
}
const text = (changes: object = {}) => JSON.stringify({ ...content, ...changes })

const request = {
  state: 'It rains.',
  questions: {
    wet: { type: 'noul', instructions: 'Is it wet?' },
    two: { type: 'choice', criteria: { a: null, b: null } },
    three: { type: 'choice', criteria: { a: null, b: null, c: null } },
    six: { type: 'choice', criteria: { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 } },
    grade: { type: 'score', criteria: ['low', 'high'] },
    only: { type: 'choice', criteria: { a: null } },
  },
} as const

t.test('answers change exactly as the formula says', async (t) => {
  const engine = createFakeEngine()
  const calibration = readCalibration('c.json', text())
  const decider = await createDecider(engine, { ...facts, calibration })
  const { answers } = await decider.decide(request, { evidence: true })
  const plain = await (await createDecider(engine, facts)).decide(request, { evidence: true })

  for (const [name, temperature] of [
    ['two', 0.5],
    ['three', 4],
    ['six', 3],
    ['grade', 1],
  ] as const) {
    const { probabilities, evidence } = answers[name] as ChoiceAnswer | ScoreAnswer
    t.strictSame(evidence!.logits, plain.answers[name]!.evidence!.logits)
    t.equal(evidence!.temperature, temperature)
    const expected = plainSoftmax(evidence!.logits, temperature)
    Object.values(probabilities).forEach((p, i) => t.ok(near(p, expected[i]!), `${name} ${i}`))
  }
  const { noul, evidence } = answers['wet'] as NoulAnswer
  t.strictSame(evidence!.logits, plain.answers['wet']!.evidence!.logits)
  t.equal(evidence!.temperature, 2.5)
  const [no, yes] = evidence!.logits
  t.ok(near(noul, 1 / (1 + Math.exp(-(yes! - no! - 0.75) / 2.5))))
  t.match(answers['only'], { probabilities: { a: 1 }, confidence: 1 })
})

t.test('the card names the data, and only with a calibration', async (t) => {
  const calibration = readCalibration('c.json', text())
  const { card } = await createDecider(createFakeEngine(), { ...facts, calibration })
  t.strictSame(card.calibration, { data: 'tickets.jsonl', date: '2026-01-31', observations: 2000 })
  const plain = await createDecider(createFakeEngine(), facts)
  t.notOk('calibration' in plain.card)
})

for (const [what, changes, message] of [
  [
    'weights',
    { model: `sha256:${'cd'.repeat(32)}` },
    /^c\.json: model: expected sha256:abab.*cdcd/,
  ],
  [
    'another readout',
    { readout: 'letters@2' },
    /^c\.json: readout: expected letters@1, .*letters@2/,
  ],
] as const) {
  t.test(`a calibration of ${what} is refused, with a remedy`, async (t) => {
    const calibration = readCalibration('c.json', text(changes))
    await t.rejects(createDecider(createFakeEngine(), { ...facts, calibration }), {
      code: 'ERR_CALIBRATION',
      message: new RegExp(`${message.source}.*oi calibrate.*--calibration off`),
    })
  })
}

for (const [what, wrong, message] of [
  ['no JSON', '{', /^c\.json: not valid JSON/],
  ['no object', '[1]', /^c\.json: expected an object, got \[1\]/],
  [
    'another format',
    text({ format: 'x@2', types: { rank: {} } }),
    /^c\.json: format: expected oi-calibration@1, got "x@2"/,
  ],
  ['no model', text({ model: undefined }), /^c\.json: model: expected a text .*, got nothing/],
  ['no types', text({ types: null }), /^c\.json: types: expected an object, got null/],
  ['an unknown type', text({ types: { rank: {} } }), /types\.rank: expected one of noul, choice/],
  [
    'no temperature',
    text({ types: { noul: { bias: 1 } } }),
    /types\.noul\.temperature: expected a positive number, got nothing/,
  ],
  [
    'a temperature of 0',
    text({ types: { choice: { temperature: 1, buckets: { '3-5': { temperature: 0 } } } } }),
    /types\.choice\.buckets\.3-5\.temperature: expected a positive number, got 0/,
  ],
  [
    'an unknown bucket',
    text({ types: { choice: { temperature: 1, buckets: { '4': {} } } } }),
    /types\.choice\.buckets\.4: expected one of 2, 3-5, 6-10, 11\+/,
  ],
  [
    'a bias of a choice',
    text({ types: { choice: { temperature: 1, bias: 1 } } }),
    /types\.choice\.bias: expected no bias/,
  ],
  ['a bias that is no number', text({ types: { noul: { temperature: 1, bias: '1' } } }), /bias/],
] as const) {
  t.test(`${what}: the file is refused, naming the place`, async (t) => {
    t.throws(() => readCalibration('c.json', wrong), { code: 'ERR_CALIBRATION', message })
  })
}

t.test('on top of own temperatures: temperatures multiply, and biases add up', async (t) => {
  const own = { noul: { temperature: 2, bias: 0.5 }, choice: { '2': 3 } }
  const onTopOf = [
    { type: 'noul', from: 1, to: null, temperature: 2, bias: 0.5 },
    { type: 'choice', from: 1, to: 2, temperature: 3 },
  ]
  const dir = t.testdir({ 'r.json': JSON.stringify({ temperature: own }) })
  const readout = await chosenReadout(join(dir, 'r.json'))
  const { name } = readout
  const decide = async (changes?: object) => {
    const calibration = changes && readCalibration('c.json', text({ readout: name, ...changes }))
    const decider = await createDecider(createFakeEngine(), { ...facts, readout, calibration })
    return (await decider.decide(request, { evidence: true })).answers
  }
  const [plain, onTop, earlier] = [await decide(), await decide({ onTopOf }), await decide({})]
  const [no, yes] = plain['wet']!.evidence!.logits
  const noul = (answers: typeof plain) => (answers['wet'] as NoulAnswer).noul
  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))
  t.ok(near(noul(onTop), sigmoid((yes! - no! + 0.5 + 2 * -0.75) / (2 * 2.5))))
  t.equal(onTop['wet']!.evidence!.temperature, 5)
  for (const [question, temperature] of [
    ['two', 3 * 0.5],
    ['three', 4],
  ] as const) {
    const { probabilities, evidence } = onTop[question] as ChoiceAnswer
    t.equal(evidence!.temperature, temperature)
    const expected = plainSoftmax(evidence!.logits, temperature)
    Object.values(probabilities).forEach((p, i) => t.ok(near(p, expected[i]!), question))
  }
  t.equal(noul(earlier), noul(plain), 'a file that says nothing of them is not on top of them')
  t.strictSame(earlier['three'], onTop['three'])
  for (const others of [[], [onTopOf[0]]]) {
    await t.rejects(decide({ onTopOf: others }), {
      code: 'ERR_CALIBRATION',
      message: /^c\.json: onTopOf: expected the model's own temperatures, got others: make another/,
    })
  }
})

t.test('on top of a rated noul, and of a mean of probabilities, is on top of the answer', (t) => {
  const onTop = { temperature: 2, bias: 1 }
  const logit = (p: number) => Math.log(p / (1 - p))
  const ratings = { logits: [1, 0, 3], labelMass: 1 }
  const noulOf = (options: object) => {
    const how = { temperature: 3, evidence: false, ...options }
    return (answerOf({ type: 'noul' }, ratings, how) as NoulAnswer).noul
  }
  t.ok(near(logit(noulOf({ onTop })), (logit(noulOf({})) + 1) / 2))

  const orders = { orders: [[0, 2], [1, 0]], meanOfProbabilities: true } as const // prettier-ignore
  const criteria = { a: null, b: null }
  const choiceOf = (options: object) => {
    const measured = { logits: [0, 0], labelMass: 1, ...orders }
    const how = { temperature: 3, evidence: false, ...options }
    const answer = answerOf({ type: 'choice', criteria }, measured, how) as ChoiceAnswer
    return answer.probabilities['b']!
  }
  t.ok(near(logit(choiceOf({ onTop: { ...onTop, bias: 0 } })), logit(choiceOf({})) / 2))
  t.end()
})

t.test('the file is found beside the model, also through a link', async (t) => {
  const dir = t.testdir({ 'a.gguf': '', 'a.gguf.calibration.json': text(), 'b.gguf': '' })
  mkdirSync(join(dir, 'models'))
  symlinkSync(join(dir, 'a.gguf'), join(dir, 'models/default.gguf'))
  for (const model of ['a.gguf', 'models/default.gguf']) {
    t.match(await findCalibration(join(dir, model)), { digest, data: 'tickets.jsonl' })
    t.equal(await findCalibration(join(dir, model), 'off'), undefined)
  }
  t.equal(await findCalibration(join(dir, 'b.gguf')), undefined)
  t.equal(await findCalibration(join(dir, 'none.gguf')), undefined)
  const named = join(dir, 'a.gguf.calibration.json')
  t.match(await findCalibration(join(dir, 'b.gguf'), named), { path: named })
  await t.rejects(findCalibration(join(dir, 'b.gguf'), join(dir, 'x.json')), {
    code: 'ERR_CALIBRATION',
    message: /x\.json: there is no such file/,
  })
  await t.rejects(findCalibration(join(dir, 'b.gguf'), dir), { code: 'ERR_CALIBRATION' })
})

t.test('a fit is written, and read back unchanged', async (t) => {
  const rows = [
    ...synthetic(createRandom(1), {
      ...{ type: 'noul', options: 2, count: 1500, temperature: 2, bias: 1 },
    }),
    ...synthetic(createRandom(2), { type: 'choice', options: 3, count: 900, temperature: 3 }),
    ...synthetic(createRandom(3), { type: 'choice', options: 7, count: 900, temperature: 2 }),
  ]
  const options = { share: 0.3, seed: 4, repetitions: 50 }
  const calibrated = calibrate(rows, options)
  const provenance = { model: digest, readout: 'letters@1', data: 'd.jsonl', date: '2026-01-31' }
  const model = join(t.testdir(), 'm.gguf')
  const path = await calibrationPath(model)
  await writeCalibration(path, calibrationFile(provenance, calibrated, options))

  const { types } = calibrated
  const read = (await findCalibration(model))!
  t.match(read, { path, digest, data: 'd.jsonl', observations: calibrated.observations })
  t.strictSame(read.of('noul', 2), {
    temperature: types.noul!.temperature,
    bias: types.noul!.bias,
  })
  t.equal(read.of('choice', 7)!.temperature, types.choice!.buckets!['6-10']!.temperature)
  t.equal(read.of('choice', 20)!.temperature, types.choice!.temperature)
  t.equal(read.of('score', 3), undefined)

  const { heldOut } = JSON.parse(readFileSync(path, 'utf8'))
  t.match(heldOut, { share: 0.3, seed: 4, after: { observations: Number, ece: Number } })
  t.strictSame(heldOut.before, calibrated.heldOut.before)
})

t.test('a place that cannot be written is named', async (t) => {
  const dir = t.testdir({ file: '' })
  writeFileSync(join(dir, 'file'), '')
  const rows = synthetic(createRandom(1), {
    ...{ type: 'noul', options: 2, count: 100, temperature: 2 },
  })
  const options = { share: 0.3, seed: 4, repetitions: 1 }
  const provenance = { model: digest, readout: 'letters@1', data: 'd.jsonl', date: '2026-01-31' }
  const file = calibrationFile(provenance, calibrate(rows, options), options)
  const path = join(dir, 'file', 'c.json')
  await t.rejects(writeCalibration(path, file), { code: 'ERR_CALIBRATION', message: /c\.json: / })
})

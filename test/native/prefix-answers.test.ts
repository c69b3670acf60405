/**
 * A model of `prefix@1` in use: the library, the commands and runners treat it like any other.
 * Needs the built addon; the fixture is made on first use.
 */
import t from 'tap'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '../../src/open.js'
import { expectCalibrated } from '../helpers/calibrated.js'
import { oi } from '../helpers/command.js'
import { fixturePath } from '../helpers/fixture.js'
import { changedFixture, mixedRequest } from '../helpers/hidden.js'

const request = mixedRequest(40)

t.test('every type of question is answered, with evidence', async (t) => {
  await using opened = await open({ model: await fixturePath('prefix'), threads: 1 })
  const { card } = opened
  t.equal(card.readout, 'prefix@1')
  t.same(card.modalities, ['text'])
  t.equal(card.limits.max_options, 255)
  const { answers } = await opened.decide(request, { evidence: true })
  const { team, urgent, mood } = answers
  t.match(team, { type: 'choice', evidence: { rank: 0, temperature: 1 } })
  // Only options have logits; they come in single precision.
  t.ok(Math.abs(team!.evidence!.label_mass - 1) < 1e-6)
  t.match(urgent, { type: 'noul' })
  t.match(mood, { type: 'score' })
  for (const answer of [team!, mood!]) {
    if (!('probabilities' in answer)) throw new Error('no probabilities')
    const sum = Object.values(answer.probabilities).reduce((all, p) => all + p, 0)
    t.ok(Math.abs(sum - 1) < 1e-9)
  }
})

t.test('orders are not averaged: options do not know each other', async (t) => {
  await using opened = await open({ model: await fixturePath('prefix'), threads: 1 })
  const { answers } = await opened.decide(request, { evidence: true, orders: 'all' })
  t.equal(answers['team']!.evidence!.order_spread, undefined)
})

t.test('with deterministic, a runner gives the same bits as this process', async (t) => {
  const model = await fixturePath('prefix')
  const bits = async (isolate: boolean) => {
    await using opened = await open({ model, isolate, deterministic: true, threads: 1 })
    const decided = await Promise.all([1, 2, 3].map(() => opened.decide(request)))
    return decided.map(({ answers }) => JSON.stringify(answers))
  }
  const [first, ...others] = [...(await bits(false)), ...(await bits(true))]
  for (const other of others) t.equal(other, first)
})

t.test('temperatures of the file and of a calibration are used', async (t) => {
  const model = await changedFixture(t.testdir(), 'prefix', { 'oi.temperature': '{"choice":2.5}' })
  await using opened = await open({ model, threads: 1 })
  const { answers } = await opened.decide(request, { evidence: true })
  t.equal(answers['team']!.evidence!.temperature, 2.5)
  t.equal(answers['urgent']!.evidence!.temperature, 1)
})

t.test('inspect, ask, calibrate and eval accept it', async (t) => {
  const dir = t.testdir()
  const model = join(dir, 'prefix.gguf')
  copyFileSync(await fixturePath('prefix'), model)
  const inspected = await oi(['models', 'inspect', model])
  t.equal(inspected.code, 0, inspected.stderr)
  t.match(inspected.stdout, /^readout +prefix@1$/m)
  t.match(inspected.stdout, /^pass +\[CLS\]{state}\[SEP\]/m)

  const asked = await oi(['ask', 'It rains.', '--noul', 'Is it wet?', '--model', model])
  t.equal(asked.code, 0, asked.stderr)

  const { team, urgent } = request.questions
  await expectCalibrated(t, dir, model, { team: team!, urgent: urgent! }, (i) => ({
    team: i % 2 > 0 ? 'billing' : 'sales',
    urgent: i % 3 > 0,
  }))
})

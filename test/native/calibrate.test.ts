/**
 * `oi calibrate` on a real file, and the file in use. Needs the built addon; the fixture is made on
 * first use.
 */
import t from 'tap'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '../../src/index.js'
import { oi } from '../helpers/command.js'
import { fixturePath } from '../helpers/fixture.js'
import { withRealServer } from '../helpers/real-server.js'
import { synthetic } from '../helpers/synthetic.js'
import { createRandom } from '../helpers/random.js'

const small = { contextTokens: 2048, threads: 1 }
const questions = {
  wet: { type: 'noul', instructions: 'Is it wet?' },
  team: { type: 'choice', criteria: { billing: null, technical: null, other: null } },
} as const
const rows = Array.from({ length: 60 }, (_, i) =>
  JSON.stringify({
    ...{ state: `Ticket ${i}`, questions },
    expected: { wet: i % 2 > 0, team: i % 3 > 0 ? 'billing' : 'other' },
  }),
).join('\n')

t.test('a fit is used when the model is opened, and named on its card', async (t) => {
  const dir = t.testdir({ 'rows.jsonl': rows })
  const model = join(dir, 'model.gguf')
  copyFileSync(await fixturePath('small'), model)
  const request = { state: 'Ticket 7', questions }
  const answer = async (calibration?: string) => {
    await using opened = await open({ model, calibration, deterministic: true, ...small })
    const { answers } = await opened.decide(request, { evidence: true })
    return { card: opened.card, wet: answers['wet'], team: answers['team'] }
  }
  const before = await answer()
  t.notOk('calibration' in before.card)

  // Random weights know nothing of these labels: by chance the fit may be worse on other rows.
  const ran = await oi(
    ['calibrate', join(dir, 'rows.jsonl'), '--model', model, '--json', '--force', '--threads', '1'],
    { OI_CONTEXT_TOKENS: '2048' },
  )
  t.equal(ran.code, 0, ran.stderr)
  const { types, path } = JSON.parse(ran.stdout) as {
    types: Record<string, { temperature: number }>
    path: string
  }
  t.equal(path, `${model}.calibration.json`)

  const after = await answer()
  t.match(after.card.calibration, { data: 'rows.jsonl' })
  t.strictSame(after.team.evidence!.logits, before.team.evidence!.logits)
  t.equal(after.team.evidence!.temperature, types['choice']!.temperature)
  t.equal(after.wet.evidence!.temperature, types['noul']!.temperature)
  const off = await answer('off')
  t.notOk('calibration' in off.card)
  t.strictSame(off.team, before.team)

  // Another model with this file beside it, or with this file given.
  const other = await fixturePath('llama')
  await t.rejects(open({ model: other, calibration: path, ...small }), {
    code: 'ERR_CALIBRATION',
    message: /model: expected sha256:/,
  })
  const file = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...file, readout: 'letters@0' }))
  await t.rejects(open({ model, ...small }), { code: 'ERR_CALIBRATION', message: /letters@0/ })
})

t.test('saved observations are bound to the named model', async (t) => {
  const seen = synthetic(createRandom(5), {
    ...{ type: 'noul', options: 2, count: 300, temperature: 2 },
  })
  const lines = seen.map((observation) => JSON.stringify(observation)).join('\n')
  const dir = t.testdir({ 'seen.jsonl': lines })
  const model = await fixturePath('small')
  const [file, out] = [join(dir, 'seen.jsonl'), join(dir, 'c.json')]
  const ran = await oi(['calibrate', '--observations', file, '--model', model, '--out', out])
  t.equal(ran.code, 0, ran.stderr)
  t.match(JSON.parse(readFileSync(out, 'utf8')), { model: /^sha256:/, readout: 'letters@1' })
  await using opened = await open({ model, calibration: out, ...small })
  t.match(opened.card.calibration, { data: 'seen.jsonl' })
})

t.test('a server is asked instead; --model says of which file, and must be its', async (t) => {
  const dir = t.testdir({ 'rows.jsonl': rows })
  const [file, out] = [join(dir, 'rows.jsonl'), join(dir, 'c.json')]
  const model = await fixturePath('small')
  await withRealServer({ contextTokens: 2048, deterministic: true }, async ({ url, key }) => {
    const asked = ['calibrate', file, '--url', url, '--key', key, '--force']
    const alone = await oi([...asked, '--json'])
    t.equal(alone.code, 0, alone.stderr)
    const { path, types } = JSON.parse(alone.stdout)
    t.equal(path, undefined, 'without --model nothing is written')
    const named = await oi([...asked, '--model', model, '--out', out])
    t.equal(named.code, 0, named.stderr)
    const written = JSON.parse(readFileSync(out, 'utf8'))
    t.match(written, { model: /^sha256:/, readout: 'letters@1' })
    t.strictSame(written.types, types)
    const other = await oi([...asked, '--model', await fixturePath('llama'), '--out', out])
    t.match(other, { code: 2, stderr: /serves no model of its weights and readout/ })
    const local = await oi([...asked, '--threads', '2'])
    t.match(local, { code: 2, stderr: /--url asks the server's own model: leave out --threads/ })
  })
  await using opened = await open({ model, calibration: out, ...small })
  t.match(opened.card.calibration, { data: 'rows.jsonl' })
})

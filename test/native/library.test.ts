/** The library over real models: several at once, and where states are kept. */
import t from 'tap'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { type DecideOptions, openAll, open } from '../../src/index.js'
import { loadAddon } from '../../src/engine/native.js'
import { fixturePath } from '../helpers/fixture.js'

const small = { contextTokens: 2048, threads: 1 }
const request = {
  state: 'It rains.',
  questions: { wet: { type: 'noul', instructions: 'Is it wet?' } as const },
}

t.test('several models answer under their names, the first by default', async (t) => {
  await using group = await openAll([
    { model: await fixturePath('small'), name: 'one', ...small },
    { model: await fixturePath('llama'), name: 'two', aliases: ['deux'], ...small },
  ])
  t.equal((await group.decide(request)).model, 'one')
  t.equal((await group.decide({ ...request, model: 'latest' })).model, 'one')
  t.equal((await group.decide({ ...request, model: 'deux' })).model, 'two')
  await t.rejects(group.decide({ ...request, model: 'three' }), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    message: /one, default, latest, .*, two, deux, got "three"/,
  })
  for (const wrong of [null, 'text', { ...request, model: 5 }]) {
    await t.rejects(group.decide(wrong as never), { code: 'ERR_BODY_INVALID' })
  }
})

t.test('the default is the model of the package', async (t) => {
  await using oi = await open({ threads: 1 })
  t.equal(oi.card.name, 'oi-small')
  t.notOk(oi.randomWeights)
  const { answers } = await oi.decide(request)
  t.match(answers, { wet: { type: 'noul', noul: Number } })
  t.equal((await oi.decide({ ...request, model: 'latest' })).model, 'oi-small')
})

t.test('a model without a chat template is asked in plain text', async (t) => {
  const model = await fixturePath('small', { template: 'none' })
  await using oi = await open({ model, ...small })
  t.equal(oi.info.chatTemplate, undefined)
  t.equal(oi.card.readout, 'letters@1')
  t.match((await oi.decide(request)).answers, { wet: { type: 'noul', noul: Number } })
})

t.test('a close answers what runs, whatever the model and its process', async (t) => {
  const long = { ...request, state: 'It rains in the valley. '.repeat(200) }
  for (const options of [{}, { model: await fixturePath('llama'), ...small }]) {
    for (const isolate of [false, true]) {
      const oi = await open({ threads: 1, ...options, isolate })
      const asked = [oi.decide(long), oi.decide(request)]
      await oi.close()
      for (const { answers } of await Promise.all(asked)) t.type(answers.wet.noul, 'number')
      await t.rejects(oi.decide(request), { code: 'ERR_ENGINE_CLOSED' })
    }
  }
})

t.test('a program that closes nothing ends by itself', async (t) => {
  const index = new URL('../../src/index.js', import.meta.url).href
  for (const isolate of [false, true]) {
    const program = `import { open } from '${index}'
      const oi = await open({ threads: 1, isolate: ${isolate} })
      const { answers } = await oi.decide(${JSON.stringify(request)})
      console.log(answers.wet.type)`
    const args = ['--input-type=module', '--eval', program]
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 30_000 })
    t.equal(stdout, 'noul\n', `isolate: ${isolate}`)
  }
})

t.test('two models with one name are refused, and closed', async (t) => {
  const model = await fixturePath('small')
  await t.rejects(openAll([small, small].map((options) => ({ model, ...options }))), {
    code: 'ERR_CONFIG',
  })
  await t.rejects(openAll([]), { code: 'ERR_INVALID_ARGUMENT' })
})

t.test('orders are an option of the model and of each request', async (t) => {
  await using oi = await open({ model: await fixturePath('small'), orders: 2, ...small })
  const questions = { q: { type: 'choice', criteria: { a: null, b: null, c: null } } as const }
  const spreadOf = async (options: DecideOptions) => {
    const { answers } = await oi.decide({ state: 1, questions }, { ...options, evidence: true })
    return answers['q'].evidence!.order_spread
  }
  t.type(await spreadOf({}), 'number')
  t.type(await spreadOf({ orders: 'all' }), 'number')
  t.equal(await spreadOf({ orders: 1 }), undefined)
  await t.rejects(spreadOf({ orders: '2' as never }), { code: 'ERR_INVALID_ARGUMENT' })
})

t.test('states are kept in a folder of their model and build', async (t) => {
  const diskCacheDir = t.testdir()
  const model = await fixturePath('small')
  await using oi = await open({ model, diskCacheDir, cacheType: 'f32', ...small })
  const weights = oi.card.digest.slice('sha256:'.length, 'sha256:'.length + 16)
  const build = loadAddon().llamaCommit.slice(0, 8)
  t.strictSame(readdirSync(diskCacheDir), [`${weights}-${build}-f32-auto-auto`])
})

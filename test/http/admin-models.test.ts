/**
 * The admin API of a running server: its models, its settings, its playground, and the password
 * that a command sets.
 *
 * Needs the built addon.
 */
import t, { type Test } from 'tap'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReplyOf } from '../../src/api/admin/operations.js'
import { defaultModelPath } from '../../src/models/default-model.js'
import { AdminClient, adminOf, setPassword } from '../helpers/admin-client.js'
import { oi } from '../helpers/command.js'
import { dataFolder } from '../helpers/data-folder.js'
import type { ProcessOptions } from '../helpers/server-process.js'
import { copyOfModel, Served } from '../helpers/served.js'
import { post } from '../helpers/asking.js'

type States = ReplyOf<'listModels'>
type State = ReplyOf<'getModel'>
type Audit = ReplyOf<'getAudit'>

const args = ['--threads', '1']

/** A server with a password set by the command, and a session. */
async function start(t: Test, options: ProcessOptions = {}) {
  const served = await Served.start(t, { args, ...options })
  return { served, admin: await adminOf(t, served) }
}

t.test('models are loaded, listed, reloaded and unloaded', async (t) => {
  const { served, admin } = await start(t)
  const file = copyOfModel(t, 'second')
  const loaded = await admin.done<State>('POST', '/models', { file, aliases: ['a/b'] })
  t.match(loaded, { name: 'second', state: 'ready', default: false, card: { name: 'second' } })
  const { models, under_way } = await admin.done<States>('GET', '/models')
  t.match(models, [
    { name: 'oi-small', default: true, state: 'ready', card: { readout: String } },
    { name: 'second', aliases: ['a/b'], file, processes: [{ resident_bytes: Number }] },
  ])
  t.strictSame(under_way, [])
  // A name may have any characters.
  t.match(await admin.done('GET', `/models/${encodeURIComponent('a/b')}`), { name: 'second' })
  const [before] = (await admin.done<State>('GET', '/models/second')).processes
  const reloaded = await admin.done<State>('POST', '/models/second/reload')
  t.match(reloaded, { name: 'second', state: 'ready' })
  t.not(reloaded.processes[0]!.pid, before!.pid)
  t.match(await served.models(), ['oi-small*', 'second'])
  const origins = models.map(({ origin }) => origin)
  t.strictSame(origins, ['settings', 'loaded'])
  for (const [keep, origin] of [
    [true, 'kept'],
    [false, 'loaded'],
  ] as const) {
    const kept = await admin.done('PUT', '/models/second/keep', { keep })
    t.match(kept, { name: 'second', origin })
  }
  t.match(await admin.done('DELETE', '/models/second'), { name: 'second' })
  t.match(await served.models(), ['oi-small*'])

  t.equal((await oi(['models', 'reload', '--data-dir', served.dataDir])).code, 0)
  const { entries } = await admin.done<Audit>('GET', '/audit?limit=6')
  t.match(entries, [
    { actor: 'command', action: 'model.reload', target: 'model oi-small' },
    { actor: 'console', action: 'model.unload', target: 'model second', after: { file } },
    { actor: 'console', action: 'model.forget', target: 'model second' },
    { actor: 'console', action: 'model.keep', target: 'model second' },
    { actor: 'console', action: 'model.reload', target: 'model second' },
    { actor: 'console', action: 'model.load', target: 'model second' },
  ])
})

t.test('an impossible change of a model is refused, and changes nothing', async (t) => {
  const { served, admin } = await start(t)
  const noModel = join(t.testdir({ 'no.gguf': 'no model' }), 'no.gguf')
  for (const [body, says] of [
    [{ file: 'second.gguf' }, /absolute path/],
    [{ file: '/nowhere/x.gguf' }, /x\.gguf/],
    [{ file: noModel }, /no\.gguf/],
    [{ file: defaultModelPath }, /loaded already/],
    [{ file: copyOfModel(t, 'b'), settings: { thread: 1 } }, /thread: did you mean threads/],
  ] as const) {
    t.match(await admin.refused(400, 'invalid_request', 'POST', '/models', { body }), says)
  }
  t.match(
    await admin.refused(404, 'not_found', 'GET', '/models/nope'),
    /no model nope \(loaded: oi-small\)/,
  )
  await admin.refused(404, 'not_found', 'DELETE', '/models/nope')
  await admin.refused(404, 'not_found', 'POST', '/models/nope/reload')
  const last = await admin.refused(400, 'invalid_request', 'DELETE', '/models/oi-small')
  t.match(last, /default model/)
  t.match(await served.models(), ['oi-small*'])
  const { entries } = await admin.done<Audit>('GET', '/audit')
  t.notOk(entries.some(({ action }) => action.startsWith('model.')))
})

t.test('each setting has its value and its source', async (t) => {
  const folder = t.testdir({ 'oi.json': '{"deadlineMs":5000,"graceMs":1}' })
  const { admin, served } = await start(t, {
    args: [...args, '--config', join(folder, 'oi.json')],
    environment: { OI_PLACE_WAIT_MS: '77' },
  })
  const valuesOf = async () => {
    const { settings } = await admin.done<ReplyOf<'getSettings'>>('GET', '/settings')
    return Object.fromEntries(
      settings.map((setting) => [setting.name, [setting.value, setting.origin]]),
    )
  }
  t.match(await valuesOf(), {
    deadlineMs: [5000, 'file'],
    placeWaitMs: [77, 'environment'],
    threads: [1, 'flag'],
    maxQuestions: [400, 'default'],
    admin: ['loopback', 'default'],
  })
  writeFileSync(join(folder, 'oi.json'), '{"maxQuestions":9}')
  served.server.child.kill('SIGHUP')
  await served.logged(/settings have been read again/)
  t.match(await valuesOf(), { deadlineMs: [60_000, 'default'], maxQuestions: [9, 'file'] })
})

t.test('the server reports its state', async (t) => {
  const { admin, served } = await start(t, { args: [...args, '--admin', 'on'] })
  const server = await admin.done<ReplyOf<'getServer'>>('GET', '/server')
  t.match(server, {
    ...{ state: 'ready', admin: 'on', addresses: [served.server.url('')] },
    ...{ data_folder: served.dataDir, accounts: { trouble: null } },
  })
  const { memory } = server
  t.ok(memory.resident_bytes > 1e7 && memory.models_resident_bytes > 1e6)
  t.ok(memory.available_bytes > 1e6)
})

t.test(
  'the playground answers as /v1/systemone does, and errors name the same places',
  async (t) => {
    const { admin, served } = await start(t)
    const questions = {
      wet: { type: 'noul', instructions: 'Is it wet?' },
      team: { type: 'choice', criteria: { a: 'rain', b: 'sun' } },
    }
    const body = { state: 'It rains.', questions }
    const headers = { 'x-oi-evidence': '1', 'x-oi-orders': '2' }
    const reply = await admin.ask<{ answers: object }>('POST', '/decide', { body, headers })
    t.match(reply, { status: 200, body: { answers: { wet: { evidence: {} }, team: {} } } })
    const same = await post(served, body, headers)
    t.match(await same.json(), { answers: reply.body.answers })
    t.match(reply.headers.get('server-timing'), /^queue;dur=/)
    for (const [wrong, status, param] of [
      [{ ...body, questions: {} }, 422, 'questions'],
      [{ ...body, questions: { a: { type: 'nool' } } }, 400, 'questions.a.type'],
      [{ ...body, model: 'nope' }, 400, 'model'],
    ] as const) {
      const refused = await admin.ask('POST', '/decide', { body: wrong })
      t.match(refused, { status, body: { error: { param } } })
    }
  },
)

t.test('the command sets the password, also in a new folder', async (t) => {
  const dataDir = dataFolder(t)
  mkdirSync(dataDir, { recursive: true })
  t.match(await setPassword(dataDir, 'short'), { code: 1, stderr: /12 to 256 characters/ })
  t.match(await setPassword(dataDir), { code: 0 })
  const served = await Served.start(t, { args, dataDir })
  const admin = new AdminClient(t, served.server.url(''))
  await admin.signIn()
  await setPassword(dataDir, 'quite another one')
  await admin.refused(401, 'invalid_session', 'GET', '/session')
  await admin.signIn('quite another one')
})

t.test('with --admin off there is no admin API, not even a refusal', async (t) => {
  const served = await Served.start(t, { args: [...args, '--admin', 'off'] })
  for (const path of ['/admin/v1/session', '/admin/v1/openapi.json', '/console', '/admin']) {
    t.equal(await served.server.status(path), 404, path)
  }
})

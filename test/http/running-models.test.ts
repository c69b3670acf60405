/**
 * Models of a running server: loaded, unloaded, reloaded, by the commands and under load.
 *
 * Needs the built addon.
 */
import t from 'tap'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultModelPath } from '../../src/models/default-model.js'
import { oi } from '../helpers/command.js'
import { dataFolder } from '../helpers/data-folder.js'
import { fixturePath } from '../helpers/fixture.js'
import { copyOfModel, Served } from '../helpers/served.js'
import { until } from '../helpers/until.js'

const args = ['--threads', '1']

for (const [how, flags] of [
  ['in processes of their own', args],
  ['in the process of the server', [...args, '--in-process']],
] as const) {
  t.test(`models are loaded and unloaded by commands, ${how}`, async (t) => {
    const served = await Served.start(t, { args: flags })
    const models = (...words: string[]) => oi(['models', ...words, '--data-dir', served.dataDir])
    const second = copyOfModel(t, 'second')

    const loaded = await models('load', second, '--threads', '1', '--alias', 'other')
    t.match(loaded, {
      code: 0,
      stderr:
        /Loading second: 100 %[^]*second is gone when the server starts again; oi models keep/,
      stdout: /^second \(not kept\) +ready/m,
    })
    t.strictSame(await served.models(), ['oi-small*', 'second'])
    t.match(JSON.parse((await served.decide('It rains.', 'other')).body), { model: 'second' })

    const listed = JSON.parse((await models('status', '--json')).stdout) as object[]
    t.match(listed, [
      { model: 'oi-small', default: true, state: 'ready', underWay: 0, device: 'CPU' },
      { model: 'second', aliases: ['other'], state: 'ready', file: second, ends: {} },
    ])
    t.match(listed[0], { processes: [{ pid: Number, residentBytes: Number }] })

    const before = await served.pids()
    t.equal((await models('reload', 'other')).code, 0)
    const after = await served.pids()
    t.equal(after[0], before[0])
    const isOwn = !flags.includes('--in-process')
    t.equal(after[1] !== before[1], isOwn, 'another process answers')
    if (isOwn) t.throws(() => process.kill(before[1]!, 0), { code: 'ESRCH' }, 'the old one is gone')

    t.match(await models('unload', 'second'), { code: 0, stdout: /^second is unloaded\n$/ })
    t.strictSame(await served.models(), ['oi-small*'])
    t.equal((await served.decide('It rains.', 'second')).status, 400)
    if (isOwn) t.throws(() => process.kill(after[1]!, 0), { code: 'ESRCH' })
    t.equal(await served.server.stop(), 0)
    t.match(await models('status'), { code: 1, stderr: /^oi: No server runs on the data folder/ })
  })
}

t.test('impossible changes are refused, and change nothing', async (t) => {
  const served = await Served.start(t, { args })
  const file = copyOfModel(t, 'second')
  const noModel = join(t.testdir({ 'no.gguf': 'no model' }), 'no.gguf')
  const settings = (values: object) => ({ file, settings: values })
  for (const [operation, input, code, message] of [
    ['load', { file: noModel }, 'ERR_MODEL_LOAD', /is not a GGUF file/],
    ['load', { file: `${noModel}2` }, 'ERR_MODEL_NOT_FOUND', /There is no model file/],
    ['load', { file: defaultModelPath }, 'ERR_CONFIG', /loaded already, as oi-small/],
    ['load', { file, name: 'oi-small' }, 'ERR_CONFIG', /both claim the name oi-small/],
    ['load', { file, aliases: ['latest'] }, 'ERR_CONFIG', /both claim the name latest/],
    ['load', settings({ contextTokens: 'x' }), 'ERR_CONFIG', /expected an integer/],
    ['load', settings({ port: 1 }), 'ERR_CONFIG', /setting port/],
    [
      'load',
      { file: await fixturePath('small'), settings: { hostCacheMb: 16e6 } },
      'ERR_MODEL_MEMORY',
      /of memory are needed/,
    ],
    ['load', {}, 'ERR_INVALID_ARGUMENT', /file: expected a text/],
    ['unload', { name: 'nobody' }, 'ERR_NOT_FOUND', /no model nobody \(loaded: oi-small/],
    ['reload', { name: 'nobody' }, 'ERR_NOT_FOUND', /no model nobody/],
    [
      'unload',
      { name: 'default' },
      'ERR_INVALID_ARGUMENT',
      /the default model.*first \(--default\)/,
    ],
    ['end', {}, 'ERR_INVALID_ARGUMENT', /expected one of models.load, models.keep/],
  ] as const) {
    await t.rejects(served.admin(`models.${operation}`, input), { code, message })
  }
  const command = ['models', 'unload', 'nobody', '--data-dir', served.dataDir]
  t.match(await oi(command), { code: 1, stderr: /^oi: There is no model nobody/ })
  t.strictSame(await served.models(), ['oi-small*'])
  t.equal((await served.decide('It rains.')).status, 200)
})

t.test('a model loaded as the default replaces the default before it', async (t) => {
  const served = await Served.start(t, { args })
  await served.admin('models.load', { file: copyOfModel(t, 'next'), default: true })
  t.strictSame(await served.models(), ['next*', 'oi-small'])
  t.match(JSON.parse((await served.decide('It rains.')).body), { model: 'next' })
  await served.admin('models.unload', { name: 'oi-small' })
  t.match(JSON.parse((await served.decide('It rains.', 'latest')).body), { model: 'next' })
})

t.test('a kept model is loaded at every further start, until it is unloaded', async (t) => {
  const [dataDir, file] = [dataFolder(t), copyOfModel(t, 'second')]
  const start = () => Served.start(t, { args, dataDir })
  const models = (...words: string[]) => oi(['models', ...words, '--data-dir', dataDir])
  const first = await start()
  t.match(await models('load', file, '--alias', 'b', '--keep'), { code: 0, stderr: /100 %\n$/ })
  await first.admin('models.load', { file: copyOfModel(t, 'next'), default: true })
  t.match(await models('keep', 'next'), { stdout: 'next is loaded at every further start\n' })
  t.match(await models('keep', 'oi-small'), { stdout: /every start: the settings name it/ })
  const unloaded = await models('unload', 'oi-small')
  t.match(unloaded, { code: 0, stderr: /The settings name it: the next start loads it again/ })
  await first.server.stop()

  const second = await start()
  t.strictSame(await second.models(), ['next*', 'oi-small', 'second'])
  t.match(JSON.parse((await second.decide('It rains.', 'b')).body), { model: 'second' })
  t.match((await models('status')).stdout, /^second \(kept\)/m)
  // The package's model has a name as a pulled model has.
  await second.admin('models.unload', { name: 'oi-small' })
  await second.admin('models.load', { file: 'oi-small' })
  t.strictSame(await second.models(), ['next*', 'second', 'oi-small'])
  t.match(await models('keep', '--off', 'next'), { stdout: /next is gone when the server starts/ })
  t.match(await models('unload', 'second'), { code: 0, stderr: '' })
  t.strictSame(JSON.parse(readFileSync(join(dataDir, 'models.json'), 'utf8')), { models: [] })
})

t.test('a kept model that cannot be loaded is left out, and the log says why', async (t) => {
  const dataDir = dataFolder(t)
  const [file, gone, large] = [
    copyOfModel(t, 'next'),
    copyOfModel(t, 'gone'),
    await fixturePath('small'),
  ]
  const kept = (named: string, path: string, more = {}) => {
    return { file: path, name: named, aliases: [], default: false, settings: {}, ...more }
  }
  const models = [
    kept('gone', gone, { default: true }),
    kept('large', large, { settings: { hostCacheMb: 16e6 } }),
    kept('odd', file, { settings: { thread: 1 } }),
    kept('next', file),
  ]
  rmSync(gone)
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(join(dataDir, 'models.json'), JSON.stringify({ models }))
  const served = await Served.start(t, { args, dataDir })
  t.strictSame(await served.models(), ['oi-small*', 'next'])
  for (const [name, why] of [
    ['gone', /There is no model file/],
    ['large', /of memory are needed/],
    ['odd', /thread: did you mean threads/],
  ] as const) {
    const line = await served.logged(new RegExp(`"level":"warn".*The model ${name} is kept.*\\n`))
    t.match(line, why)
    t.match(line, `oi models keep --off ${name} forgets it`)
    t.equal((await oi(['models', 'keep', '--off', name, '--data-dir', dataDir])).code, 0)
  }
})

t.test('reloaded under the load of 32 clients, a model fails no request', async (t) => {
  const served = await Served.start(t, { args })
  const statuses: Record<number, number> = {}
  let running = true
  t.teardown(() => (running = false))
  const clients = Array.from({ length: 32 }, async (_, client) => {
    for (let i = 0; running; i++) {
      const { status } = await served.decide(`It rains on day ${i} of client ${client}.`)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  })
  const answered = () => statuses[200] ?? 0
  const pids = new Set(await served.pids())
  for (let times = 0; times < 3; times++) {
    const before = answered()
    await served.server.until(() => answered() > before + 32)
    await served.admin('models.reload', { name: 'oi-small' })
    pids.add((await served.pids())[0])
  }
  running = false
  await Promise.all(clients)
  t.equal(pids.size, 4, 'three times another process')
  t.strictSame(Object.keys(statuses), ['200'], JSON.stringify(statuses))
})

t.test('a model whose file is gone goes on unchanged, and the error says why', async (t) => {
  const file = copyOfModel(t, 'gone')
  const served = await Served.start(t, { args: [...args, '--model', file] })
  rmSync(file)
  await t.rejects(served.admin('models.reload'), { message: /There is no model file/ })
  t.equal((await served.decide('It rains.')).status, 200)
  t.match(await served.admin('models.status'), [{ state: 'ready', reason: undefined }])
})

t.test('a server that is stopped while it loads a model ends, and so does the model', async (t) => {
  const served = await Served.start(t, { args })
  const { pid } = served.server.child
  let loading = false
  const loaded = served.admin('models.load', { file: copyOfModel(t, 'late') }, () => {
    loading = true
  })
  loaded.catch(() => {})
  await served.server.until(() => loading)
  const children = childrenOf(pid!)
  t.equal(children.length, 2)
  t.equal(await served.server.stop(), 0)
  await t.rejects(loaded, { code: 'ERR_REMOTE', message: /ended before it answered/ })
  await until(() => children.every((child) => !existsSync(`/proc/${child}`)))
})

function childrenOf(pid: number): readonly string[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  )
}

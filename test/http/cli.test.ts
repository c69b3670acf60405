import t, { type Test } from 'tap'
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { settings } from '../../src/config.js'
import { ended, oi, RunningCommand } from '../helpers/command.js'
import { vacantPort } from '../helpers/vacant-port.js'
import { get, post } from '../helpers/asking.js'
import { about } from '../helpers/batch.js'

const listening = /Listening on (http:\/\/127\.0\.0\.1:(\d+))/
const secretLine = /^\s*(oi-[\w-]{43})$/m

/** Starts the stub server on a free port; kills it at the end of the test. */
function serve(t: Test, dataDir: string, model: string, ...more: string[]): RunningCommand {
  const args = ['serve', '--model', 'stub.gguf', '--port', '0', '--data', dataDir, ...more]
  const command = new RunningCommand(args, model)
  t.teardown(() => command.process.kill('SIGKILL'))
  return command
}

t.test('help and version end with 0', async (t) => {
  for (const args of [
    ['--help'],
    ['serve', '--help'],
    ['keys', 'create', '--help'],
    ['--version'],
  ]) {
    const { code, stdout } = await oi(args)
    t.equal(code, 0, args.join(' '))
    t.ok(stdout.length > 5)
  }
  t.match((await oi(['serve', '--help'])).stdout, /--max-body-bytes <n>.*OI_MAX_BODY_BYTES/s)
})

t.test('help of serve has each setting once, in groups, what most need first', async (t) => {
  const { stdout } = await oi(['serve', '--help'])
  const flags = settings.map(({ flag }) => flag)
  t.strictSame(
    stdout
      .match(/(?<=^  (?:--data, )?)--[a-z-]+(?= |$)/gm)
      ?.filter((flag) => flag !== '--help')
      .sort(),
    flags.sort(),
  )
  t.match(stdout, /Options most servers need:\n  --model .*Connections:\n.*Limits of requests:\n/s)
})

for (const [title, args, message] of [
  ['no command', [], /Usage/],
  ['an unknown command', ['serv'], /Did you mean serve/],
  ['a flag out of range', ['serve', '--model', 'x', '--port', '70000'], /--port: expected/],
  ['an id that is none', ['keys', 'revoke', 'x'], /whole number/],
] as const) {
  t.test(`${title} is wrong usage: 2`, async (t) => {
    const { code, stdout, stderr } = await oi(args)
    t.equal(code, 2)
    t.equal(stdout, '')
    t.match(stderr, message)
  })
}

t.test('the default is the model of the package', async (t) => {
  const command = new RunningCommand(['serve', '--port', '0', '--data', t.testdir()], 'instant')
  t.teardown(() => command.process.kill('SIGKILL'))
  const [, file] = await command.match(/^Model (.+) on stub$/m)
  t.ok(existsSync(file!), String(file))
})

t.test('workspaces and keys, from making to revoking', async (t) => {
  const data = ['--data', t.testdir()]
  t.equal((await oi(['workspaces', 'create', 'shop', ...data])).code, 0)
  const again = await oi(['workspaces', 'create', 'shop', ...data])
  t.match(again, { code: 1, stderr: /^oi: There is a workspace "shop" already\n$/ })

  const made = await oi(['keys', 'create', '--workspace', 'shop', '--name', 'web', ...data])
  t.equal(made.code, 0)
  t.match(made.stdout, /^oi-[\w-]{43}\n$/, 'the key alone, for scripts')
  t.match((await oi(['keys', 'create', ...data])).stderr, /oi workspaces create default/)

  t.match((await oi(['keys', 'revoke', '1', ...data])).stdout, /Key 1 \("web"\) is revoked/)
  const list = await oi(['keys', 'list', '--json', ...data])
  t.match(JSON.parse(list.stdout), [{ id: 1, workspace: 'shop', revokedMs: Number }])
  t.notOk(list.stdout.includes(made.stdout.trim()))
  t.match((await oi(['keys', 'list', ...data])).stdout, /web.*shop.*oi-…/)
  t.match(JSON.parse((await oi(['workspaces', 'list', '--json', ...data])).stdout), [
    { name: 'shop' },
  ])
})

t.test('a first start shows a key once, and a request that works with it', async (t) => {
  const dataDir = t.testdir()
  const first = serve(t, dataDir, 'instant', '--log', 'requests')
  await first.match(/^Ready$/m)
  const [, key] = await first.match(secretLine)
  const [curl] = await first.match(/^ +curl .*$/m)
  for (const type of ['noul', 'choice', 'score']) t.match(curl, `"type":"${type}"`)
  const { stdout } = await promisify(execFile)('sh', ['-c', `${curl} -s`])
  t.match(JSON.parse(stdout), { model: 'stub' })
  t.match(first.stderr, /Loading the model: 100 %/)
  t.match(JSON.parse((await first.match(/^\{"level".*"path".*$/m))[0]), {
    path: '/v1/systemone',
    status: 200,
  })
  t.notOk(first.stderr.includes(key!))
  first.process.kill('SIGTERM')
  t.equal(await first.exited, 0)
  t.match(first.stderr, /Model closed/)

  const second = serve(t, dataDir, 'instant')
  const [, url] = await second.match(listening)
  await second.match(/^Ready$/m)
  t.notMatch(second.stdout, secretLine)
  t.equal((await get({ url: url!, key: key! }, '/v1/models')).status, 200)
  second.process.kill('SIGINT')
  t.equal(await second.exited, 0)
})

t.test('too few open files are said in a sentence', async (t) => {
  const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
  const { status, stderr } = spawnSync('sh', ['-c', `ulimit -n 48; exec node ${main} --version`])
  t.equal(status, 1)
  t.match(String(stderr), /^oi: too many files are open: .*ulimit -n 1024\)\n$/)
})

t.test('a model that cannot be opened ends the command with 1 and the reason', async (t) => {
  const server = serve(t, t.testdir(), 'broken')
  t.equal(await server.exited, 1)
  t.notMatch(server.stdout, secretLine, 'no key: the one showing is not used up')
  t.match(server.stderr, /^oi: stub\.gguf does not exist: see --model$/m)
})

t.test('facts that users must know about the model are in the start log', async (t) => {
  await serve(t, t.testdir(), 'fake').match(/on stub\nThe weights of fake are random\nReady$/m)
})

/** A settings file for two stub models. */
function twoModels(t: Test, second: object = {}): string {
  const models = [
    { file: '1.gguf', name: 'small' },
    { file: '2.gguf', name: 'big', ...second },
  ]
  return join(
    t.testdir({ 'oi.json': JSON.stringify({ port: 0, dataDir: 'data', models }) }),
    'oi.json',
  )
}

t.test('several models are loaded one after another, and each answers to its name', async (t) => {
  const args = ['serve', '--config', twoModels(t, { aliases: ['good'] })]
  const server = new RunningCommand(args, 'fake')
  t.teardown(() => server.process.kill('SIGKILL'))
  const [, url] = await server.match(listening)
  await server.match(/^Ready$/m)
  t.match(
    server.stdout,
    /Memory, of .* available:\n.*small.*big.*Model .*1\.gguf.*Model .*2\.gguf/s,
  )
  t.match(server.stderr, /Loading small \(1 of 2\): 100 %\nLoading big \(2 of 2\): 0 %/)
  const [, key] = await server.match(secretLine)
  const address = { url: url!, key: key! }
  for (const [model, name] of [
    [undefined, 'small'],
    ['latest', 'small'],
    ['good', 'big'],
  ]) {
    t.match(await (await post(address, about(1, { model }))).json(), { model: name })
  }
  t.match(await (await get(address, '/v1/models')).json(), {
    models: [
      { name: 'small', default: true },
      { name: 'big', default: false },
    ],
  })
  server.process.kill('SIGTERM')
  t.equal(await server.exited, 0)
  t.equal(server.stderr.match(/Model closed/g)?.length, 2)
})

t.test('two models that claim the same name are wrong usage: 2, naming both files', async (t) => {
  const args = ['serve', '--config', twoModels(t, { name: 'small' })]
  const { code, stdout, stderr } = await ended(new RunningCommand(args, 'fake'))
  t.equal(code, 2)
  t.match(stderr, /1\.gguf and .*2\.gguf both claim the name small/)
  t.notMatch(stdout, secretLine)
})

t.test('models that do not fit end the command with 1 before anything is loaded', async (t) => {
  const server = serve(t, t.testdir(), 'huge')
  t.equal(await server.exited, 1)
  t.match(
    server.stderr,
    /1000000\.00 GB of memory are needed, .* are available:\n {2}stub: weights/,
  )
  t.notMatch(server.stderr, /Loading/)
})

t.test('metrics on their own port', async (t) => {
  const port = await vacantPort()
  const probe = createServer().listen(port, '127.0.0.1')
  await once(probe, 'listening')
  const taken = serve(t, t.testdir(), 'instant', '--metrics-port', String(port))
  t.equal(await taken.exited, 1)
  t.match(taken.stderr, new RegExp(`port ${port} is taken: .*--metrics-port`))

  probe.close()
  const server = serve(t, t.testdir(), 'instant', '--metrics-port', String(port))
  const [, url] = await server.match(listening)
  await server.match(/^Ready$/m)
  t.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 200)
  t.equal((await fetch(`${url}/metrics`)).status, 404)
  server.process.kill('SIGTERM')
  t.equal(await server.exited, 0)
})

t.test('a port in use ends the command with 1, naming the port, and shows no key', async (t) => {
  const dir = t.testdir()
  const first = serve(t, join(dir, 'first'), 'instant')
  const [, , port] = await first.match(listening)
  const second = serve(t, join(dir, 'second'), 'instant', '--port', port!)
  t.equal(await second.exited, 1)
  t.match(second.stderr, new RegExp(`port ${port} is taken: .*--port`))
  t.notMatch(second.stdout, secretLine)
})

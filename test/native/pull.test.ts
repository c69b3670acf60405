/**
 * `oi models pull`, `list` and `rm` as processes, from a hub on this machine, and the uses of a
 * pulled model. Needs the built addon; the model is that of the package.
 */
import t, { type Test } from 'tap'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultModelPath } from '../../src/models/default-model.js'
import { open } from '../../src/open.js'
import { dataFolder } from '../helpers/data-folder.js'
import { ggufHead } from '../helpers/gguf-head.js'
import { ended, oi, RunningCommand } from '../helpers/command.js'
import { digestOf, HubServer } from '../helpers/hub-server.js'
import { Served } from '../helpers/served.js'

const bytes = readFileSync(defaultModelPath)
const asking = ['It rains.', '--noul', 'wet=Is it wet?', '--json']

async function start(t: Test) {
  const hub = await HubServer.start(t)
  hub.repositories['owner/tiny-GGUF'] = { 'tiny-Q8_0.gguf': { bytes } }
  const dataDir = dataFolder(t)
  const environment = { OI_DATA_DIR: dataDir, HF_ENDPOINT: hub.origin, HF_TOKEN: '' }
  const run = (...args: string[]) => oi(args, environment)
  return { hub, dataDir, environment, run }
}

t.test("a pulled model's name works in ask, inspect, open() and a settings file", async (t) => {
  const { dataDir, run } = await start(t)
  const pulled = await run('models', 'pull', 'hf:owner/tiny-GGUF')
  t.match(pulled, {
    code: 0,
    stdout: /^tiny-Q8_0 is there: \d+\.\d MB, Q8_0\n {2}sha256 [0-9a-f]{64}/,
  })
  t.match(pulled.stderr, /^Pulling tiny-Q8_0: 0 %\n(?:Pulling tiny-Q8_0: \d+ %\n)+Loading it once/)
  t.match(await run('models', 'pull', 'hf:owner/tiny-GGUF'), {
    code: 0,
    stdout: /^tiny-Q8_0 was there already/,
  })

  const asked = await run('ask', ...asking, '--model', 'tiny-Q8_0')
  t.match(JSON.parse(asked.stdout), { model: 'tiny-Q8_0', answers: { wet: { type: 'noul' } } })
  t.match((await run('models', 'inspect', 'tiny-Q8_0')).stdout, /^can be served +yes$/m)

  const modelsDir = join(dataDir, 'models')
  const library = await open({ model: 'tiny-Q8_0', modelsDir })
  t.equal(library.card.name, 'tiny-Q8_0')
  await library.close()
  await t.rejects(open({ model: 'tiny', modelsDir }), {
    code: 'ERR_MODEL_NOT_FOUND',
    message: /no model file tiny, and no pulled model of this name \(oi models list\)/,
  })

  const settings = join(t.testdir({ 'oi.json': '{"models":[{"file":"tiny-Q8_0"}]}' }), 'oi.json')
  const named = await oi(['ask', ...asking], { OI_DATA_DIR: dataDir, OI_CONFIG: settings })
  t.match(JSON.parse(named.stdout), { model: 'tiny-Q8_0' })

  const refused = await oi(['models', 'rm', 'tiny-Q8_0'], {
    ...{ OI_DATA_DIR: dataDir, OI_CONFIG: settings },
  })
  t.match(refused, { code: 1, stderr: /not removed, as the settings name it \(.*oi\.json\)/ })
  t.match(await run('models', 'rm', 'tiny-Q8_0'), { code: 0, stdout: /is removed: \d+\.\d MB/ })
  t.match(await run('ask', ...asking, '--model', 'tiny-Q8_0'), {
    code: 1,
    stderr: /no pulled model of this name/,
  })
})

t.test('the list shows models and incomplete pulls, for people and programs', async (t) => {
  const { dataDir, hub, run } = await start(t)
  const own = { name: 'oi-small', bytes: bytes.length, source: 'this package' }
  t.match((await run('models', 'list')).stdout, /^oi-small +\d+\.\d MB +- +this package /m)
  t.strictSame(JSON.parse((await run('models', 'list', '--json')).stdout), [own])
  await run('models', 'pull', 'hf:owner/tiny-GGUF:Q8_0', '--name', 'one')
  mkdirSync(join(dataDir, 'models', '.pull', 'two'))
  const { stdout } = await run('models', 'list')
  t.match(stdout, /^one +\d+\.\d MB +Q8_0 +hf:owner\/tiny-GGUF:Q8_0 +- +[0-9a-f]{12} /m)
  t.match(stdout, /^two +0\.0 MB +not whole yet /m)
  t.match(JSON.parse((await run('models', 'list', '--json')).stdout), [
    own,
    { name: 'one', bytes: bytes.length, files: [{ sha256: digestOf(bytes) }], projector: '' },
    { name: 'two', unfinished: true },
  ])
  t.ok(hub.asked.every(({ headers }) => !headers.authorization))
})

t.test('a pull that is killed 20 times ends with the right bytes', async (t) => {
  const { hub, dataDir, environment, run } = await start(t)
  const pull = ['models', 'pull', 'hf:owner/tiny-GGUF', '--name', 'cut']
  const part = join(dataDir, 'models', '.pull', 'cut', 'tiny-Q8_0.gguf.part.json')
  // Each gets a little further: a connection sends a twentieth of it, then nothing.
  let connections = 0
  hub.trouble = ({ range }) =>
    range && range[1] > 0 && ++connections > 0 ? { silentAfter: 100_000 } : undefined
  for (let i = 0; i < 20; i++) {
    const before = existsSync(part) ? readFileSync(part, 'utf8') : ''
    const command = new RunningCommand(pull, undefined, environment)
    // The state file shows progress.
    await command.until(() => existsSync(part) && readFileSync(part, 'utf8') !== before)
    command.process.kill('SIGKILL')
    await command.exited
    t.notOk(existsSync(join(dataDir, 'models', 'cut')))
  }
  hub.trouble = () => undefined
  const before = hub.transfers.length
  t.match(await run(...pull), { code: 0 })
  t.ok(readFileSync(join(dataDir, 'models', 'cut', 'tiny-Q8_0.gguf')).equals(bytes))
  const asked = hub.transfers.slice(before).map(({ range }) => range![1] - range![0] + 1)
  const left = asked.reduce((sum, size) => sum + size, 0)
  t.ok(left < bytes.length, `${left} of ${bytes.length} bytes were left to the last one`)
})

t.test('a server loads a pulled model by name, and protects it from removal', async (t) => {
  const { dataDir, hub, environment, run } = await start(t)
  await run('models', 'pull', 'hf:owner/tiny-GGUF', '--name', 'second')
  const served = await Served.start(t, { dataDir, args: ['--threads', '1'] })
  const loaded = await run('models', 'load', 'second')
  t.match(loaded, { code: 0, stdout: /second/ })
  t.match(JSON.parse((await served.decide('It rains.', 'second')).body), { model: 'second' })

  t.match(await run('models', 'rm', 'second', '--force'), {
    code: 1,
    stderr: /has second open: unload it first \(oi models unload second\)/,
  })
  // Nor is it replaced.
  hub.repositories['owner/tiny-GGUF'] = { 'tiny-Q8_0.gguf': { bytes: bytes.subarray(1) } }
  t.match(await oi(['models', 'pull', 'hf:owner/tiny-GGUF', '--name', 'second'], environment), {
    code: 1,
    stderr: /has second open/,
  })
  t.match(await run('models', 'unload', 'second'), { code: 0 })
  t.match(await run('models', 'rm', 'second'), { code: 0 })
})

t.test('a model that cannot answer gets no name, and stays for another try', async (t) => {
  const { dataDir, hub, run } = await start(t)
  const others = {
    'text.gguf': [Buffer.from('no model'), /is not a GGUF file/],
    'cut.gguf': [bytes.subarray(0, bytes.length / 2), /cut\.gguf/],
    'bert.gguf': [ggufHead({ 'general.architecture': 'bert' }), /makes embeddings/],
    'page.gguf': [Buffer.from('<!doctype html>'), /is not a GGUF file/],
  } as const
  for (const [name, [content, fault]] of Object.entries(others)) {
    const result = await run('models', 'pull', hub.serve(`/${name}`, content))
    t.match(result, { code: 1, stderr: fault }, name)
    t.match(result.stderr, /What its source sent is here, and stays until oi models rm/)
    t.notOk(existsSync(join(dataDir, 'models', name.replace('.gguf', ''))), name)
  }
})

t.test('wrong usage is reported before any request', async (t) => {
  const { hub, run } = await start(t)
  const source = 'hf:owner/tiny-GGUF'
  for (const [args, fault] of [
    [
      [source, '--connections', '0'],
      /'--connections <n>' argument '0' is invalid. It should be a whole number from 1 to 16/,
    ],
    [[source, '--sha256', 'abc'], /--sha256: expected 64 hexadecimal digits/],
    [[source, '--hub', 'nowhere'], /--hub: expected an address/],
    [[source, '--token-file', '/nowhere'], /--token-file \/nowhere: there is no such file/],
    [['hf:tiny'], /source: expected hf:owner\/repository/],
    [[], /missing required argument/],
  ] as const) {
    t.match(await run('models', 'pull', ...args), { code: 2, stderr: fault }, args.join(' '))
  }
  t.equal(hub.asked.length, 0)
})

t.test('a token is read from a file or the environment, and never printed', async (t) => {
  const { hub, dataDir, environment } = await start(t)
  hub.trouble = ({ headers }) =>
    headers.authorization === 'Bearer hf_secret' ? undefined : { status: 401 }
  const pull = ['models', 'pull', 'hf:owner/tiny-GGUF', '--name']
  const denied = await oi([...pull, 'a'], environment)
  t.match(denied, { code: 1, stderr: /needs a token \(HF_TOKEN or --token-file\)/ })
  const wrong = await oi([...pull, 'a'], { ...environment, HF_TOKEN: 'hf_wrong' })
  t.match(wrong, { code: 1, stderr: /the token was refused/ })
  t.notMatch(wrong.stderr + wrong.stdout, /hf_wrong/)
  t.match(await oi([...pull, 'a'], { ...environment, HF_TOKEN: ' hf_secret\n' }), { code: 0 })

  const file = join(t.testdir({ token: 'hf_secret\n' }), 'token')
  const byFile = await oi([...pull, 'b', '--token-file', file], environment)
  t.match(byFile, { code: 0 })
  writeFileSync(file, 'two words')
  const odd = await oi([...pull, 'c', '--token-file', file], environment)
  t.match(odd, { code: 2, stderr: /--token-file: expected one token/ })
  t.notMatch(odd.stderr, /two words/)
  for (const name of readdirSync(join(dataDir, 'models', 'b'))) {
    if (name === 'model.json') {
      t.notMatch(readFileSync(join(dataDir, 'models', 'b', name), 'utf8'), /secret/)
    }
  }
})

t.test('a pull can be stopped with Ctrl-C, and continued at once', async (t) => {
  const { hub, environment, run } = await start(t)
  hub.trouble = ({ range }) => (range && range[1] > 0 ? { silentAfter: 60_000 } : undefined)
  const pull = ['models', 'pull', 'hf:owner/tiny-GGUF']
  const command = new RunningCommand(pull, undefined, environment)
  await command.match(/Pulling tiny-Q8_0: 0 %/)
  command.process.kill('SIGINT')
  await command.exited
  t.equal(command.process.signalCode, 'SIGINT')
  hub.trouble = () => undefined
  t.match(await run(...pull), { code: 0 })
  t.match(await ended(new RunningCommand(pull, undefined, environment)), { code: 0 })
})

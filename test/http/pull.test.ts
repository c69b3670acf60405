/**
 * Models pulled from repositories, addresses and paths: which get a name, and when. In this
 * process, with random bytes for models; no addon.
 */
import t from 'tap'
import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { OiError } from '../../src/errors.js'
import { withLock } from '../../src/models/pull/lock.js'
import { removeModel } from '../../src/models/pull/remove.js'
import { listPulled, listUnfinished, resolveModel } from '../../src/models/pulled-models.js'
import { digestOf } from '../helpers/hub-server.js'
import { Puller, someBytes } from '../helpers/pull.js'

t.test('the chosen model of a repository comes with all its parts and its projector', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const part = (i: number) => `Q8_0/m-Q8_0-0000${i}-of-00002.gguf`
  const files = {
    [part(2)]: { bytes: someBytes(1) },
    [part(1)]: { bytes: someBytes(1) },
    'mmproj-F16.gguf': { bytes: someBytes(0.5) },
    'm-Q4_K_M.gguf': { bytes: someBytes(0.1) },
    'README.md': { bytes: Buffer.from('#') },
  }
  hub.repositories['owner/repo'] = files
  const { model } = await puller.pull('hf:owner/repo:Q8_0')
  t.match(model, {
    ...{ name: 'm-Q8_0', source: 'hf:owner/repo:Q8_0', projector: 'mmproj-F16.gguf' },
    model: 'm-Q8_0-00001-of-00002.gguf',
  })
  for (const path of [part(1), part(2), 'mmproj-F16.gguf']) {
    t.ok(puller.read('m-Q8_0', path.split('/').at(-1)!).equals(files[path]!.bytes), path)
  }
  t.equal(readdirSync(puller.path('m-Q8_0')).length, 4, 'three files and what they are')
  t.ok(hub.transfers.every(({ path }) => path.includes(`/resolve/${hub.commit}/`)))
  t.strictSame(listPulled(puller.modelsDir), [model])
  t.strictSame(listUnfinished(puller.modelsDir), [])
  t.strictSame(resolveModel('m-Q8_0', puller.modelsDir), {
    file: puller.path('m-Q8_0', 'm-Q8_0-00001-of-00002.gguf'),
    projector: puller.path('m-Q8_0', 'mmproj-F16.gguf'),
    name: 'm-Q8_0',
  })

  const alone = await puller.pull('hf:owner/repo:m-Q4_K_M.gguf', {
    projector: 'none',
    name: 'own',
  })
  t.match(alone.model, { name: 'own', projector: '', files: [{ name: 'm-Q4_K_M.gguf' }] })
})

t.test('whole parts are kept when a later part is cut', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const part = (i: number) => `m-0000${i}-of-00002.gguf`
  hub.repositories['a/b'] = {
    [part(1)]: { bytes: someBytes(2) },
    [part(2)]: { bytes: someBytes(1) },
  }
  hub.trouble = ({ path }) => (path.endsWith(part(2)) ? { status: 404 } : undefined)
  await t.rejects(puller.pull('hf:a/b'), { code: 'ERR_PULL' })
  puller.nothingNamed()
  t.match(listUnfinished(puller.modelsDir), [{ name: 'm' }])
  hub.trouble = () => undefined
  const before = hub.transfers.length
  await puller.pull('hf:a/b')
  t.ok(hub.transfers.slice(before).every(({ path }) => path.endsWith(part(2))))
})

t.test("a hub's statements about a file are checked", async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(1)
  hub.repositories['a/b'] = { 'm.gguf': { bytes, listed: { size: 5 } } }
  await t.rejects(puller.pull('hf:a/b'), { code: 'ERR_PULL', message: /has \d+ bytes, expected 5/ })
  hub.repositories['a/b'] = { 'm.gguf': { bytes, listed: { sha256: 'f'.repeat(64) } } }
  await t.rejects(puller.pull('hf:a/b'), { code: 'ERR_PULL', message: /expected f{64}/ })
  await t.rejects(puller.pull('hf:a/b', { sha256: '0'.repeat(64) }), {
    message: /the hub says f{64}, --sha256 says 0{64}/,
  })
  hub.repositories['a/b'] = { 'm.gguf': { bytes, listed: { sha256: undefined } } }
  await puller.pull('hf:a/b', { sha256: digestOf(bytes) })
  puller.read('m', 'm.gguf')
})

t.test('a repository that lists a path outside of the folder is refused whole', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(0.1)
  hub.repositories['a/b'] = { 'm.gguf': { bytes }, '../../../../evil.gguf': { bytes } }
  await t.rejects(puller.pull('hf:a/b:m.gguf'), {
    code: 'ERR_PULL',
    message: /is no name for a file/,
  })
  const url = `${hub.origin}/x/..%2F..%2Fevil.gguf`
  await t.rejects(puller.pull(url), { code: 'ERR_PULL', message: /is no name for a file/ })
  t.equal(hub.transfers.length, 0)
  puller.nothingNamed()
})

t.test('a nonsensical answer of a hub is reported', async (t) => {
  const { hub, puller } = await Puller.start(t)
  for (const text of ['', 'no', '[]', '{}', `{"sha":"x","siblings":[]}`, '{"sha":5}']) {
    hub.trouble = () => ({ bytes: Buffer.from(text) })
    await t.rejects(puller.pull('hf:a/b'), {
      code: 'ERR_PULL',
      message: /\/api\/models\/a\/b did not answer with a listing/,
    })
  }
})

t.test('an unchanged model is not fetched again; a changed one replaces the old one', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const [old, bytes] = [someBytes(1), someBytes(1)]
  hub.repositories['a/b'] = { 'm.gguf': { bytes: old } }
  await puller.pull('hf:a/b')
  const before = hub.transfers.length
  t.match(await puller.pull('hf:a/b'), { unchanged: true, model: { name: 'm' } })
  t.equal(hub.transfers.length, before)

  hub.repositories['a/b'] = { 'm.gguf': { bytes } }
  const requireUnused = async () => {
    throw new OiError('ERR_PULL', 'in use')
  }
  await t.rejects(puller.pull('hf:a/b', { requireUnused }), { message: 'in use' })
  t.ok(puller.read('m', 'm.gguf').equals(old))
  t.match(await puller.gets('hf:a/b', bytes), { unchanged: false })

  const url = hub.serve('/n.gguf', old)
  await puller.pull(url)
  t.match(await puller.pull(url), { unchanged: true })
  hub.serve('/n.gguf', bytes)
  t.match(await puller.gets(url, bytes), { unchanged: false })
})

t.test('a name that belongs to another source is not taken', async (t) => {
  const { hub, puller } = await Puller.start(t)
  await puller.pull(hub.serve('/x/m.gguf', someBytes(0.1)))
  const other = hub.serve('/y/m.gguf', someBytes(0.1))
  await t.rejects(puller.pull(other), { code: 'ERR_PULL', message: /there already, from .*x\/m/ })
  t.match(await puller.pull(other, { name: 'other' }), { model: { name: 'other' } })
})

t.test('a file of this machine is copied, and found unchanged', async (t) => {
  const { puller } = await Puller.start(t)
  const folder = t.testdir()
  const bytes = someBytes(1)
  writeFileSync(join(folder, 'm.gguf'), bytes)
  t.match(await puller.gets(join(folder, 'm.gguf'), bytes), {
    model: { source: join(folder, 'm.gguf') },
  })
  t.match(await puller.pull(join(folder, 'm.gguf')), { unchanged: true })
  await t.rejects(puller.pull(join(folder, 'absent.gguf')), { code: 'ERR_PULL', message: /absent/ })
  await t.rejects(puller.pull(folder), { code: 'ERR_PULL', message: /is a folder/ })
})

t.test('an address without a file’s name needs a name', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const url = hub.serve('/download', someBytes(0.1))
  await t.rejects(puller.pull(url), {
    code: 'ERR_CONFIG',
    message: /give the model a name with --name/,
  })
  t.match(await puller.pull(url, { name: 'mine' }), { model: { model: 'mine.gguf' } })
  for (const name of ['../x', 'latest', '.x', 'x.gguf']) {
    await t.rejects(puller.pull(url, { name }), { code: 'ERR_CONFIG', message: /--name: expected/ })
  }
})

t.test('a full disk is reported before anything is fetched', async (t) => {
  const { hub, puller } = await Puller.start(t)
  hub.repositories['a/b'] = {
    'm.gguf': { bytes: someBytes(2) },
    'mmproj.gguf': { bytes: someBytes(1) },
  }
  const freeBytes = async () => 66_000_000
  await t.rejects(puller.pull('hf:a/b', { freeBytes }), {
    code: 'ERR_PULL',
    message: /^3\.1 MB are still to fetch, and .* has room for 66\.0 MB$/,
  })
  t.equal(hub.transfers.length, 0)
})

t.test('what is no model gets no name, and is not fetched again to be tried again', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const url = hub.serve('/m.gguf', someBytes(1))
  const check = async (file: string) => {
    t.equal(file, puller.path('.pull', 'm', 'm.gguf'))
    throw new OiError('ERR_MODEL_LOAD', 'it is none')
  }
  await t.rejects(puller.pull(url, { check }), {
    code: 'ERR_MODEL_LOAD',
    message: 'it is none\nWhat its source sent is here, and stays until oi models rm m',
  })
  puller.nothingNamed()
  const before = hub.transfers.length
  await puller.pull(url)
  t.equal(hub.transfers.length, before)
  t.ok(existsSync(puller.path('m', 'm.gguf')))
})

t.test(
  'a pull that was cut while the model got its name is finished by the next one',
  async (t) => {
    const { hub, puller } = await Puller.start(t)
    const bytes = someBytes(1)
    const url = hub.serve('/m.gguf', bytes)
    await puller.pull(url)
    renameSync(puller.path('m'), puller.path('.pull', 'm'))
    t.match(await puller.gets(url, bytes), { unchanged: true })
  },
)

t.test('two pulls of one model: the second is refused', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const url = hub.serve('/m.gguf', someBytes(1))
  const [first, second] = await Promise.allSettled([puller.pull(url), puller.pull(url)])
  const refused = [first, second].filter(({ status }) => status === 'rejected')
  t.match(refused, [{ reason: { code: 'ERR_PULL', message: /m is being pulled or removed by/ } }])
  t.match(await puller.pull(url), { unchanged: true })
})

t.test('a lock has one owner, and ends with it', async (t) => {
  const folder = t.testdir()
  let inside = 0
  let entered = 0
  const attempt = async () => {
    await withLock(folder, 'm', async () => {
      entered++
      t.equal(++inside, 1)
      await new Promise((resolve) => setTimeout(resolve, 1))
      inside--
    }).catch(() => {})
  }
  for (let i = 0; i < 20; i++) await Promise.all([attempt(), attempt(), attempt()])
  t.ok(entered >= 20)
  t.equal(readdirSync(folder).length, 1)

  const lock = (number: number, owner: object, ageMs = 0) => {
    const path = join(folder, `m.lock.${number}`)
    writeFileSync(path, JSON.stringify(owner))
    const time = new Date(Date.now() - ageMs)
    utimesSync(path, time, time)
  }
  const run = () => withLock(folder, 'm', async () => 'done')
  lock(1000, { host: hostname(), pid: 2 ** 22 + 1 })
  t.equal(await run(), 'done', 'its process has ended')
  lock(2000, { host: 'elsewhere', pid: 1 })
  await t.rejects(run(), { code: 'ERR_PULL', message: /by process 1 of elsewhere/ })
  lock(2000, { host: 'elsewhere', pid: 1 }, 61_000)
  t.equal(await run(), 'done', 'its machine has ended')
  lock(3000, { host: hostname(), pid: process.pid })
  await t.rejects(run(), { code: 'ERR_PULL' })
})

t.test('a model is removed with the remains of its pulls, unless it is in use', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(1)
  await puller.pull(hub.serve('/m.gguf', bytes))
  const used = async () => {
    throw new OiError('ERR_PULL', 'in use')
  }
  await t.rejects(removeModel(puller.modelsDir, 'm', used), { message: 'in use' })
  puller.read('m', 'm.gguf')
  t.ok((await removeModel(puller.modelsDir, 'm', async () => {})) >= bytes.length)
  t.strictSame(listPulled(puller.modelsDir), [])
  mkdirSync(puller.path('.pull', 'n'))
  await removeModel(puller.modelsDir, 'n', async () => {})
  t.strictSame(listUnfinished(puller.modelsDir), [])
  await puller.pull(hub.serve('/other.gguf', bytes))
  await t.rejects(
    removeModel(puller.modelsDir, 'othr', async () => {}),
    {
      code: 'ERR_NOT_FOUND',
      message: /did you mean other\?/,
    },
  )
})

t.test('a damaged description is reported with the remedy', async (t) => {
  const { hub, puller } = await Puller.start(t)
  await puller.pull(hub.serve('/m.gguf', someBytes(0.1)))
  writeFileSync(puller.path('m', 'model.json'), '{"source":')
  t.throws(() => resolveModel('m', puller.modelsDir), {
    code: 'ERR_MODEL_LOAD',
    message: /model\.json is damaged: oi models rm m, and pull it again/,
  })
  await removeModel(puller.modelsDir, 'm', async () => {})
  puller.nothingNamed()
})

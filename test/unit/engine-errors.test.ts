/** Errors of the addon, as the engine passes them on; the addon is a few lines of JavaScript. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { openEngine, withSize } from '../../src/engine/engine.js'
import { statNames } from '../../src/engine/stats.js'
import { ggufHead } from '../helpers/gguf-head.js'

const addon = `exports.machine = () => ({ cores: 1 })
exports.statNames = ${JSON.stringify(statNames.join())}
exports.NativeEngine = class {
  async open() {
    return { ordinary: new Uint8Array(0), description: 'qwen3 ?B Q8_0', parameters: 10235904 }
  }
  async close() {}
  score(id, { texts: [text] }) { return Promise.reject(Object.assign(new Error('from the addon'), JSON.parse(text))) }
}`

const dir = t.testdir({
  'addon.cjs': addon,
  'model.gguf': ggufHead({ 'general.architecture': 'qwen3' }, 0),
})
process.env['OI_ADDON'] = join(dir, 'addon.cjs')
const engine = await openEngine({ modelPath: join(dir, 'model.gguf') })
t.teardown(() => engine.close())

const failing = (error: object) =>
  engine.score({ prefix: [{ text: JSON.stringify(error), trusted: false }], suffixes: [] })

t.test('a size without a name in llama.cpp is given in parameters', async (t) => {
  t.equal(engine.info.description, 'qwen3 10.2M Q8_0')
})

t.test('a size that is that of another model is replaced by the parameters', async (t) => {
  t.equal(withSize('llama 256M Q4_1', 134_515_008), 'llama 134.5M Q4_1')
  t.equal(withSize('qwen3 0.6B Q8_0', 751_632_384), 'qwen3 0.6B Q8_0')
  t.equal(withSize('bert 22M Q8_0', 23_154_816), 'bert 22M Q8_0')
  t.equal(withSize('qwen3moe 30B.A3B Q4_K - Medium', 30.5e9), 'qwen3moe 30B.A3B Q4_K - Medium')
})

t.test('an overload has the time to try again', async (t) => {
  await t.rejects(failing({ code: 'ERR_OVERLOADED', retryAfterMs: 1234.5 }), {
    name: 'OiError',
    code: 'ERR_OVERLOADED',
    retryAfterMs: 1234.5,
    message: 'from the addon',
  })
})

t.test('other errors keep their code and have no such time', async (t) => {
  const error = await failing({ code: 'ERR_TIMEOUT' }).catch((reason: unknown) => reason)
  t.match(error, { code: 'ERR_TIMEOUT', retryAfterMs: undefined })
})

t.test('an image for a model without a projector is refused', async (t) => {
  const image = { rgb: new Uint8Array(3), width: 1, height: 1 }
  await t.rejects(engine.score({ prefix: [{ text: '', trusted: false, image }], suffixes: [] }), {
    code: 'ERR_INVALID_ARGUMENT',
    message: /without a projector/,
  })
})

t.test('a missing projector is refused with its path', async (t) => {
  const modelPath = join(dir, 'model.gguf')
  await t.rejects(openEngine({ modelPath, projectorPath: 'nowhere.gguf' }), {
    code: 'ERR_MODEL_NOT_FOUND',
    message: /nowhere\.gguf/,
  })
  await t.rejects(openEngine({ modelPath, projectorPath: 'a\0b' }), {
    code: 'ERR_INVALID_ARGUMENT',
    message: /^projectorPath: /,
  })
})

t.test('an unknown code is a fault', async (t) => {
  await t.rejects(failing({ code: 'ERR_ODD' }), { code: 'ERR_ENGINE_INTERNAL' })
})

t.test('an addon with other counters is refused: they would be read as others', async (t) => {
  const other = join(t.testdir({ 'old.cjs': "exports.statNames = 'answered'" }), 'old.cjs')
  const module = new URL('../../src/engine/native.js', import.meta.url).href
  const script = `import(${JSON.stringify(module)}).then(({ loadAddon }) => loadAddon())`
  const environment = { ...process.env, OI_ADDON: other }
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], {
    ...{ env: environment, encoding: 'utf8' },
  })
  t.not(status, 0)
  t.match(stderr, /OI_ADDON=.*old\.cjs: it was compiled from other sources/)
})

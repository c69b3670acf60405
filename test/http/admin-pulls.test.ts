/**
 * Models on the server's disk over the admin API: pulled from a hub on this machine, stopped, loaded
 * by their names, removed. Needs the built addon.
 */
import t, { type Test } from 'tap'
import { readFileSync } from 'node:fs'
import type { ReplyOf } from '../../src/api/admin/operations.js'
import { defaultModelPath } from '../../src/models/default-model.js'
import { adminOf } from '../helpers/admin-client.js'
import { HubServer } from '../helpers/hub-server.js'
import { Served } from '../helpers/served.js'
import { until } from '../helpers/until.js'

type Named = ReplyOf<'listNamedModels'>
type UnderWay = ReplyOf<'listModels'>['under_way']

const bytes = readFileSync(defaultModelPath)
const source = 'hf:owner/tiny-GGUF'

async function start(t: Test) {
  const hub = await HubServer.start(t)
  hub.repositories['owner/tiny-GGUF'] = { 'tiny-Q8_0.gguf': { bytes } }
  const environment = { HF_ENDPOINT: hub.origin, HF_TOKEN: '' }
  const served = await Served.start(t, { args: ['--threads', '1'], environment })
  const admin = await adminOf(t, served)
  const named = async () => (await admin.done<Named>('GET', '/named-models')).models
  return { hub, served, admin, named }
}

t.test('a model is pulled, loaded by its name, and removed', async (t) => {
  const { served, admin, named } = await start(t)
  t.match(await named(), [{ name: 'oi-small', state: 'packaged', loaded: true }])
  const pulled = await admin.done('POST', '/named-models', { source, name: 'tiny' })
  const tiny = { name: 'tiny', state: 'pulled', quantization: 'Q8_0', bytes: bytes.length }
  t.match(pulled, { ...tiny, loaded: false, sees_images: false, pulled_at: String })
  t.match(await named(), [{}, { ...tiny, source: /owner\/tiny-GGUF/ }])
  // Again: it is there already.
  t.match(await admin.done('POST', '/named-models', { source, name: 'tiny' }), tiny)

  t.match(await admin.done('POST', '/models', { file: 'tiny' }), { name: 'tiny', state: 'ready' })
  t.match(await served.models(), ['oi-small*', 'tiny'])
  t.match(await named(), [{}, { name: 'tiny', loaded: true }])
  const used = await admin.refused(409, 'conflict', 'DELETE', '/named-models/tiny')
  t.match(used, /tiny is loaded, as tiny: unload it first/)
  await admin.done('DELETE', '/models/tiny')
  t.match(await admin.done('DELETE', '/named-models/tiny'), { freed_bytes: Number })
  t.match(await named(), [{ name: 'oi-small' }])
  await admin.refused(404, 'not_found', 'DELETE', '/named-models/tiny')
  const own = await admin.refused(409, 'conflict', 'DELETE', '/named-models/oi-small')
  t.match(own, /belongs to this package/)

  const { entries } = await admin.done<ReplyOf<'getAudit'>>('GET', '/audit')
  const deeds = entries.filter(({ action }) => action.startsWith('model.')).reverse()
  t.match(deeds, [
    ...[{ action: 'model.pull', target: 'model tiny' }, { action: 'model.pull' }],
    ...[{ action: 'model.load' }, { action: 'model.unload' }, { action: 'model.remove' }],
  ])
})

t.test('a pull shows its progress, can be stopped, and goes on where it was', async (t) => {
  const { hub, admin, named } = await start(t)
  hub.trouble = ({ range }) => (range === undefined || range[1] === 0 ? {} : { silentAfter: 1e6 })
  const refused = admin.refused(409, 'conflict', 'POST', '/named-models', { body: { source } })
  const running = async () => {
    const { under_way } = await admin.done<{ under_way: UnderWay }>('GET', '/models')
    return under_way.find(({ progress }) => /^\d.* MB of 2\d\.\d MB/.test(progress))
  }
  await until(async () => (await running()) !== undefined)
  t.match(await running(), { action: 'model.pull', target: source })
  const twice = await admin.refused(409, 'conflict', 'POST', '/named-models', { body: { source } })
  t.match(twice, /is being pulled/)
  t.match(await named(), [{}, { state: 'unfinished', loaded: false }])
  await admin.done('DELETE', `/pulls/${encodeURIComponent(source)}`)
  t.match(await refused, /was stopped/)
  await admin.refused(404, 'not_found', 'DELETE', `/pulls/${encodeURIComponent(source)}`)

  hub.trouble = () => undefined
  const before = hub.asked.length
  const pulled = await admin.done('POST', '/named-models', { source })
  t.match(pulled, { name: 'tiny-Q8_0', state: 'pulled' })
  const fetched = hub.asked.slice(before).flatMap(({ range }) => range ?? [])
  t.ok(Math.max(...fetched.filter((_, i) => i % 2 === 0)) > 0, 'not from the beginning')
})

t.test("a source is a hub's or an address: no file of the machine is read", async (t) => {
  const { admin, named } = await start(t)
  for (const given of [defaultModelPath, './x.gguf', 'file:///etc/passwd', 'http://127.0.0.1/x']) {
    const body = { source: given }
    const says = await admin.refused(400, 'invalid_request', 'POST', '/named-models', { body })
    t.match(says, /^source: expected hf:owner\/repository/)
  }
  const wrong = { source, sha256: '12' }
  const says = await admin.refused(400, 'invalid_request', 'POST', '/named-models', { body: wrong })
  t.match(says, /^sha256: expected 64 hexadecimal digits/)
  const none = { source: 'hf:owner/nothing' }
  await admin.refused(400, 'invalid_request', 'POST', '/named-models', { body: none })
  t.match(await named(), [{ name: 'oi-small' }])
})

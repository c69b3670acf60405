/** The log of a server: every field of a request, by the settings, and never a key or a state. */
import t, { type Test } from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { batchPath, post } from '../helpers/asking.js'
import { dataFolder } from '../helpers/data-folder.js'
import { Served } from '../helpers/served.js'
import { ServerProcess } from '../helpers/server-process.js'

const planted = 'planted-state-7f3a'
const questions = { planted_name: { type: 'noul', instructions: `${planted} too` } }

const linesOf = ({ said }: Served) =>
  said
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const ask = (served: Served, path: string, body: object, headers: Record<string, string> = {}) =>
  post(served, body, headers, path)

t.test('a request is logged with its key, its tokens and its times', async (t) => {
  const served = await Served.start(t, { model: 'fake', args: ['--log', 'requests'] })
  const reply = await ask(served, '/v1/systemone', { state: planted, questions })
  const { usage } = (await reply.json()) as { usage: Record<string, number> }
  const id = reply.headers.get('x-request-id')!
  await served.logged(new RegExp(id))
  const line = linesOf(served).find((entry) => entry['id'] === id)!
  t.match(line, {
    ...{ level: 'info', method: 'post', path: '/v1/systemone', status: 200 },
    ...{ workspace: 'default', key: 1, ...usage },
    ...{ queue_ms: Number, tokenize_ms: Number, model_ms: Number, ms: Number, model: 'fake' },
  })
  t.equal(new Date(String(line['time'])).toISOString(), line['time'])
})

t.test('no key and no text of a state is in the log, wherever a caller puts them', async (t) => {
  const served = await Served.start(t, { model: 'fake', args: ['--log', 'requests'] })
  const key = served.headers['authorization']!.slice('Bearer '.length)
  const state = { deep: [planted] }
  await ask(served, '/v1/systemone', { state, questions })
  await ask(served, '/v1/systemone', { state, questions: { [planted]: { type: 'none' } } })
  await ask(served, '/v1/systemone', { state, questions, model: planted })
  await ask(served, batchPath, { states: [state, 3, planted], questions })
  await ask(served, batchPath, {
    requests: [
      { state, questions },
      { state, id: planted },
    ],
  })
  await ask(served, `/v1/${key}`, {}, { 'x-request-id': key })
  await ask(served, `/v1/systemone?key=${key}&state=${planted}`, { state, questions })
  const wrong = `oi-${'w'.repeat(43)}`
  await ask(served, '/v1/systemone', { state }, { authorization: `Bearer ${wrong}` })
  await ask(served, '/v1/systemone', { state }, { authorization: wrong })
  await fetch(served.server.url(`/v1/models?key=${key}`), { headers: { authorization: key } })
  await ask(served, '/v1/systemone', { state, questions }, { 'x-request-id': 'last' })
  await served.logged(/"id":"last"/)
  const requests = linesOf(served).filter((entry) => entry['path'] !== '/readyz')
  t.ok(requests.length >= 11)
  for (const hidden of [key, planted, wrong, 'planted_name']) {
    t.notOk(served.said.includes(hidden), hidden)
  }
})

t.test('lines below the level are left out, and SIGHUP changes it', async (t) => {
  const config = join(t.testdir({ 'oi.json': '{"log":"requests","logLevel":"error"}' }), 'oi.json')
  const served = await Served.start(t, { model: 'fake', args: ['--config', config] })
  await ask(served, '/v1/systemone', { state: 'x', questions })
  t.strictSame(linesOf(served), [])
  writeFileSync(config, '{"log":"requests"}')
  served.server.child.kill('SIGHUP')
  await served.logged(/changed logLevel"/)
  await ask(served, '/v1/systemone', { state: 'x', questions }, { 'x-request-id': 'now' })
  await served.logged(/"id":"now"/)
})

/** All output of a server started this way and asked once; both streams together. */
async function output(t: Test, args: readonly string[], through: readonly string[] = []) {
  const server = await ServerProcess.start(t, {
    ...{ stdio: ['pipe', 'pipe', 'pipe'], dataDir: dataFolder(t), through },
    args: ['--log', 'requests', ...args],
  })
  for (const output of [server.child.stdout!, server.child.stderr!]) server.read(output)
  await server.ask(1, '/healthz?x')
  await server.until(() => server.said.includes('/healthz'))
  return server.said
}

t.test('with json, every line but those about the first key is JSON', async (t) => {
  const text = await output(t, ['--log-format', 'json'])
  const others = text.split('\n').filter((line) => line !== '' && !line.startsWith('{"level":'))
  const shown = /^This is a new data folder|^\s+oi-|^Try it|^\s+curl|^The console has|^\s+http/
  for (const line of others) t.match(line, shown)
  t.match(text, /"notice":"Ready"/)
})

t.test('with text, and on a terminal, a request is a line for people', async (t) => {
  const plain =
    /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} info {2}GET \/healthz: 200 · [\d.]+ ms · req_/
  t.match(await output(t, ['--log-format', 'text']), plain)
  const terminal = ['sh', '-c', 'exec script -qefc "$*" /dev/null', 'sh']
  t.match(stripVTControlCharacters(await output(t, [], terminal)), plain)
})

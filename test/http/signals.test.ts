/**
 * Signals to a running server: what it announces, what it still answers, and its exit code. Servers
 * were once orphaned with their port by `npm start`, ended by SIGHUP during requests, and refused
 * connections at the moment at which /readyz began to say so.
 */
import t, { type Test } from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../../scripts/build/paths.js'
import { post } from '../helpers/asking.js'
import { firstKey } from '../helpers/data-folder.js'
import { ServerProcess } from '../helpers/server-process.js'
import { until } from '../helpers/until.js'
import { vacantPort } from '../helpers/vacant-port.js'

/** A server with a request that lasts until SIGUSR2. */
async function slowServer(t: Test, environment: Record<string, string> = {}) {
  const dataDir = join(t.testdir(), 'data')
  const { secret: key } = firstKey(dataDir)
  const server = await ServerProcess.start(t, { model: 'slow', dataDir, environment })
  const status = post({ url: server.url(''), key }).then(
    (reply) => reply.status,
    () => 'cut',
  )
  await server.until(() => server.said.includes('Deciding'))
  return { server, status }
}

t.test('SIGTERM: /readyz says 503 and all else is answered for --drain-ms, then 0', async (t) => {
  const server = await ServerProcess.start(t, { environment: { OI_DRAIN_MS: '1500' } })
  const startMs = performance.now()
  server.child.kill('SIGTERM')
  await server.until(async () => (await server.status('/readyz')) === 503)
  // New connections: fetch() keeps one, and another host name gets its own.
  const other = server.url('/healthz').replace('127.0.0.1', 'localhost')
  t.equal((await fetch(other, { headers: { connection: 'close' } })).status, 200)
  t.equal(await server.status('/openapi.json'), 200)
  t.equal(await server.exited, 0)
  t.ok(performance.now() - startMs > 1400)
})

t.test('SIGINT does not wait for --drain-ms', async (t) => {
  const server = await ServerProcess.start(t, { environment: { OI_DRAIN_MS: '600000' } })
  t.equal(await server.stop('SIGINT'), 0)
})

t.test(
  'SIGTERM while the model is loaded does not wait either: there are no clients yet',
  async (t) => {
    const environment = { OI_DRAIN_MS: '600000' }
    const server = await ServerProcess.start(t, { model: 'loading', environment, until: 503 })
    t.equal(await server.stop('SIGTERM'), 0)
  },
)

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const) {
  t.test(`a second ${signal} cuts running requests, and the exit code says so`, async (t) => {
    const { server, status } = await slowServer(t, { OI_DRAIN_MS: '60000' })
    server.child.kill(signal)
    // Two pending signals of one kind would be one.
    await server.until(async () => (await server.status('/readyz')) !== 200)
    server.child.kill(signal)
    t.equal(await server.exited, code)
    t.equal(await status, 'cut')
  })
}

t.test('SIGHUP without a terminal changes nothing', async (t) => {
  const { server, status } = await slowServer(t)
  server.child.kill('SIGHUP')
  server.child.kill('SIGHUP')
  await sleep(200)
  server.child.kill('SIGUSR2')
  t.equal(await status, 200)
  t.equal(await server.stop(), 0)
})

t.test('Ctrl-C on a pipeline, whose reader ends at once, lets requests finish', async (t) => {
  const { server, status } = await slowServer(t)
  server.child.stderr!.destroy()
  server.child.kill('SIGINT')
  await sleep(200)
  server.child.kill('SIGUSR2')
  t.equal(await status, 200)
  t.equal(await server.exited, 0)
})

t.test('a signal also ends process 1', { skip: noNamespaces() }, async (t) => {
  const through = ['unshare', '--pid', '--fork', '--mount-proc']
  const server = await ServerProcess.start(t, { through })
  process.kill(childOf(server.child.pid!), 'SIGTERM')
  t.equal(await server.exited, 0)
})

t.test('npm start passes signals on, and ends with the server', async (t) => {
  const port = await vacantPort()
  const flags = ['--port', String(port), '--data', t.testdir(), '--drain-ms', '0']
  // Another test covers the scripts before it: the TypeScript is built already.
  const npm = spawn('npm', ['start', '--ignore-scripts', '--', ...flags], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => npm.kill('SIGKILL'))
  let said = ''
  for (const output of [npm.stdout, npm.stderr]) output.on('data', (text) => (said += text))
  let closed = false
  npm.once('close', () => (closed = true))
  const ready = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      (reply) => reply.status === 200,
      () => false,
    )
  await until(ready, () => (closed ? `npm start ended with ${npm.exitCode}:\n${said}` : undefined))
  npm.kill('SIGTERM')
  const [code] = (await once(npm, 'exit')) as [number]
  t.equal(code, 0)
  await t.rejects(fetch(`http://127.0.0.1:${port}/healthz`), 'nobody holds the port')
})

function noNamespaces(): string | false {
  return process.platform === 'linux' && process.getuid?.() === 0 ? false : 'only root of Linux may'
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
}

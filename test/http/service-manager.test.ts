/**
 * Notifications for a service manager (sd_notify), through a real datagram socket. Needs the built
 * addon, and Python, because Node has no such sockets.
 */
import t, { type Test } from 'tap'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadAddon } from '../../src/engine/native.js'
import { Served } from '../helpers/served.js'
import { ServerProcess } from '../helpers/server-process.js'
import { until } from '../helpers/until.js'

const python = spawnSync('python3', ['--version']).status === 0
const skip = process.platform === 'win32' || !python ? 'needs Unix sockets and python3' : false
const linux = skip || (process.platform === 'linux' ? false : 'abstract sockets are of Linux')

const receiver = `
import json, socket, sys
name = sys.argv[1]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind('\\0' + name[1:] if name[0] == '@' else name)
print(json.dumps('bound'), flush=True)
while True:
    print(json.dumps(s.recv(65536).decode()), flush=True)
`

/** A service manager's socket. */
async function listen(t: Test, address?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'oi-notify-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = address ?? join(folder, 'notify')
  const child = spawn('python3', ['-c', receiver, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  const messages: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    messages.push(JSON.parse(line) as string)
  })
  await until(
    () => messages.length > 0,
    () => (child.exitCode === null ? undefined : `the receiver ended with ${child.exitCode}`),
  )
  messages.length = 0
  return { path, messages, has: (pattern: RegExp) => messages.some((one) => pattern.test(one)) }
}

/** As systemd starts a service with a watchdog. */
const watched = (usec: number, pid = '$$') => [
  'sh',
  '-c',
  `WATCHDOG_USEC=${usec} WATCHDOG_PID=${pid} exec "$@"`,
  'sh',
]

t.test(
  'ready, the watchdog, reloading and stopping are announced, in this order',
  { skip },
  async (t) => {
    const { path, messages, has } = await listen(t)
    const environment = { NOTIFY_SOCKET: path, OI_DRAIN_MS: '300' }
    const server = await ServerProcess.start(t, { through: watched(100_000), environment })
    await server.until(() => has(/^READY=1$/m))
    t.match(messages[0], /^WATCHDOG=1$/)
    t.ok(has(/^EXTEND_TIMEOUT_USEC=60000000$/), 'more time for loading')
    t.ok(has(/^STATUS=Loading the model$/))
    t.match(messages.at(-1), /^(?:READY=1\nSTATUS=Serving stub|WATCHDOG=1)$/)
    const pats = () => messages.filter((one) => one === 'WATCHDOG=1').length
    const before = pats()
    await server.until(() => pats() >= before + 3)

    messages.length = 0
    server.child.kill('SIGHUP')
    await server.until(() => has(/^READY=1$/m))
    const [reloading, ready] = messages.filter((one) => /^(?:RELOADING|READY)=1/.test(one))
    const now = Number(process.hrtime.bigint() / 1000n)
    const told = Number(/^RELOADING=1\nMONOTONIC_USEC=(\d+)\n/.exec(reloading!)![1])
    t.ok(told <= now && told > now - 60e6, 'on the clock of the manager')
    t.match(ready, /^READY=1\nSTATUS=Serving stub$/)

    messages.length = 0
    server.child.kill('SIGTERM')
    await server.until(() => has(/^STOPPING=1\nSTATUS=/))
    server.child.kill('SIGHUP')
    t.equal(await server.exited, 0)
    t.notOk(has(/READY=1|RELOADING=1/), 'nothing else any more')
  },
)

t.test('a server that is not ready announces no reload', { skip }, async (t) => {
  const { path, has } = await listen(t)
  const environment = { NOTIFY_SOCKET: path }
  const server = await ServerProcess.start(t, { model: 'loading', environment, until: 503 })
  server.child.kill('SIGHUP')
  await sleep(200)
  t.equal(await server.stop(), 0)
  await until(() => has(/STOPPING=1/))
  t.notOk(has(/READY=1|RELOADING=1|WATCHDOG=1/))
})

t.test('an abstract socket, a watchdog of another process', { skip: linux }, async (t) => {
  const { path, has } = await listen(t, `@oi-notify-${process.pid}`)
  const environment = { NOTIFY_SOCKET: path }
  const server = await ServerProcess.start(t, { through: watched(50_000, '1'), environment })
  await server.until(() => has(/^READY=1$/m))
  await sleep(100)
  t.notOk(has(/WATCHDOG/))
  t.equal(await server.stop(), 0)
})

t.test('a missing manager is reported once, and ends nothing', { skip }, async (t) => {
  const environment = { NOTIFY_SOCKET: join(tmpdir(), 'oi-nobody'), WATCHDOG_USEC: '40000' }
  const served = await Served.start(t, { model: 'fake', environment })
  await sleep(200)
  t.equal(served.said.match(/The service manager cannot be notified/g)?.length, 1)
  t.equal((await served.decide('It rains.')).status, 200)
  t.equal(await served.server.stop(), 0)
})

t.test('the process of a model does not notify', { skip: linux }, async (t) => {
  const { path } = await listen(t)
  const environment = { NOTIFY_SOCKET: path, WATCHDOG_USEC: '10000000' }
  const served = await Served.start(t, { environment, args: ['--threads', '1'] })
  const [pid] = await served.pids()
  const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
  t.notOk(variables.some((one) => /^(?:NOTIFY_SOCKET|WATCHDOG_)/.test(one)))
})

t.test(
  'a datagram that cannot be sent returns the number of its error',
  { skip: linux },
  async (t) => {
    const { sendDatagram } = loadAddon()
    t.equal(sendDatagram(join(tmpdir(), 'oi-nobody'), 'x'), 2)
    t.equal(sendDatagram('x'.repeat(108), 'x'), 36)
    t.equal(sendDatagram('', 'x'), 22)
    const { path, has } = await listen(t)
    t.equal(sendDatagram(path, 'é\nx'), 0)
    await until(() => has(/^é\nx$/))
  },
)

/**
 * A model on another machine's devices, by RPC over loopback. `npm run test:rpc` compiles what it
 * needs; elsewhere it is skipped.
 */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Child } from '../../scripts/bench/child.js'
import { buildNative } from '../../scripts/build/native.js'
import type { Decision } from '../../src/decide/types.js'
import { ended, RunningCommand } from '../helpers/command.js'
import { fixturePath } from '../helpers/fixture.js'
import { listens } from '../helpers/proxies.js'
import { Served } from '../helpers/served.js'
import { until } from '../helpers/until.js'
import { vacantPort } from '../helpers/vacant-port.js'

const wanted = process.env['OI_TEST_RPC'] === '1'
const skip = !wanted && 'npm run test:rpc runs it'
const folder = wanted ? await buildNative(new Set(['rpc']), ['oi', 'ggml-rpc-server']) : ''
const environment = { OI_ADDON: join(folder, 'oi.node') }

async function startPeer(port: number): Promise<Child> {
  const program = join(folder, 'bin/ggml-rpc-server')
  const peer = new Child(program, ['--port', String(port), '--threads', '1'])
  await until(() => listens(port))
  return peer
}

t.test(
  'a model on a peer answers as on this machine, and it is the device that is named',
  { skip },
  async (t) => {
    const port = await vacantPort()
    const peer = new RunningCommand(['rpc-server', '--port', String(port)], undefined, environment)
    t.teardown(() => peer.process.kill('SIGKILL'))
    await peer.match(/are at rpc:\/\/127\.0\.0\.1:/)
    await until(() => listens(port))
    const model = await fixturePath('small', { type: 'F32' })
    const body = join(t.testdir(), 'body.json')
    const questions = {
      money: { type: 'noul', instructions: 'Is it about money?' },
      team: {
        type: 'choice',
        criteria: { accounts: 'payments', technical: 'errors', other: null },
      },
      mood: { type: 'score', criteria: ['calm', 'cross', 'furious'] },
    }
    const numbersOn = async (device: string) => {
      const args = ['ask', '--model', model, '--device', device, '--request', body, '--json']
      const { code, stdout, stderr } = await ended(new RunningCommand(args, undefined, environment))
      t.equal(code, 0, stderr)
      const { answers } = JSON.parse(stdout) as Decision
      return JSON.stringify(answers)
        .match(/\d\.\d+(?:e-\d+)?/g)!
        .map(Number)
    }
    for (const state of ['I was charged twice.', 'It rains. '.repeat(60)]) {
      writeFileSync(body, JSON.stringify({ state, questions }))
      const [here, there] = [await numbersOn('cpu'), await numbersOn(`rpc://127.0.0.1:${port}`)]
      t.equal(there.length, here.length)
      const worst = Math.max(...here.map((value, i) => Math.abs(value - there[i]!)))
      t.ok(worst < 1e-4, `probabilities are at most ${worst} apart`)
    }
    peer.process.kill('SIGTERM')
    t.equal(await peer.exited, 0)
  },
)

t.test(
  'a peer that is killed in the middle costs 503s until it is back, and no more',
  { skip },
  async (t) => {
    const port = await vacantPort()
    let peer = await startPeer(port)
    t.teardown(() => peer.stop())
    const model = await fixturePath('small')
    const args = ['--model', model, '--device', `rpc://127.0.0.1:${port}`]
    const served = await Served.start(t, { args, environment })
    const statuses = new Set<number>()
    const asked: Promise<unknown>[] = []
    const ask = async (i: number) => statuses.add((await served.decide(`Day ${i} of rain.`)).status)
    // Not one after another: what the process has in hand waits for the next one.
    const timer = setInterval(() => asked.push(ask(asked.length)), 50)
    t.teardown(() => clearInterval(timer))
    await until(() => statuses.has(200))
    process.kill(peer.pid!, 'SIGKILL')
    await until(async () => (await served.server.status('/readyz')) === 503)
    await until(() => statuses.has(503))
    peer = await startPeer(port)
    await until(async () => (await served.server.status('/readyz')) === 200)
    clearInterval(timer)
    await Promise.all(asked)
    t.strictSame([...statuses].sort(), [200, 503])
    t.equal((await served.decide('It rains again.')).status, 200)
  },
)

t.test('a peer that is not there is named before anything is loaded', { skip }, async (t) => {
  const model = await fixturePath('small')
  const port = await vacantPort()
  for (const [device, message] of [
    [`rpc://127.0.0.1:${port}`, /nothing answers there \(oi rpc-server/],
    ['rpc://127.0.0.1', /expected a machine as rpc:\/\/10\.0\.0\.2:50052/],
  ] as const) {
    const args = [
      'ask',
      'It rains.',
      '--noul',
      'wet=Is it wet?',
      '--model',
      model,
      '--device',
      device,
    ]
    const { code, stderr } = await ended(new RunningCommand(args, undefined, environment))
    t.equal(code, 1)
    t.match(stderr, message)
  }
})

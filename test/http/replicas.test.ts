/**
 * `oi serve` with two replicas of a model, from a settings file. Needs the built addon; the model
 * is one whose states are cached.
 */
import t, { type Test } from 'tap'
import { join } from 'node:path'
import type { ModelStatus } from '../../src/admin/socket/operations.js'
import type { Decision } from '../../src/decide/types.js'
import { post } from '../helpers/asking.js'
import { postBatch } from '../helpers/batch.js'
import { oi } from '../helpers/command.js'
import { fixturePath } from '../helpers/fixture.js'
import { Served } from '../helpers/served.js'
import { until } from '../helpers/until.js'

const file = await fixturePath('small')

/** A server with this model; its start is in `said`. */
async function serve(t: Test, model: object) {
  const settings = JSON.stringify({ models: [{ file, name: 'small', ...model }] })
  const served = await Served.start(t, {
    args: ['--config', join(t.testdir({ 'oi.json': settings }), 'oi.json')],
    stdio: ['ignore', 'pipe', 'ignore'],
    onStart: (server) => server.read(server.child.stdout!),
  })
  /** The values of a metric, by replica. */
  const metric = (name: string) =>
    Promise.all(
      [0, 1].map((replica) => {
        const labels = `\\{model="small",replica="${replica}"(?:,[^}]*answered[^}]*)?\\}`
        return served.server.metric(name + labels)
      }),
    )
  const ask = (state: string) => post(served, { state, questions }, { 'x-oi-evidence': '1' })
  return { served, metric, ask }
}

const questions = { money: { type: 'noul', instructions: 'Is this about money?' } }
const states = Array.from({ length: 16 }, (_, i) => `Ticket ${i}: my card was charged twice.`)

t.test('two replicas share the states, and each state is cached at its replica', async (t) => {
  const { served, metric, ask } = await serve(t, { replicas: 2, threads: 1 })
  t.match(served.said, /^Model small .*, 2 replicas, 1 thread,.*, processes \d+, \d+$/m)
  // Each asks its model something at its start.
  const before = await metric('oi_engine_requests_total')
  /** How many each has answered since, once it is so many together: counters follow a little later. */
  const answeredBy = async (count: number) => {
    let counts: number[] = []
    await until(async () => {
      const now = await metric('oi_engine_requests_total')
      counts = now.map((value, i) => value - before[i]!)
      return counts[0]! + counts[1]! === count
    })
    return counts
  }
  for (const round of [1, 2]) {
    for (const state of states) {
      const reply = await ask(state)
      t.equal(reply.status, 200)
      const { evidence } = (await reply.json()) as Decision
      const cached = evidence!.cached_tokens
      // States of one replica share their beginning.
      if (round === 2) t.ok(cached > 8, `${cached} of a known state`)
    }
  }
  const answered = await answeredBy(32)
  // Each state twice: both requests go to the same replica.
  t.ok(Math.min(...answered) >= 4, answered.join())
  t.ok(
    answered.every((count) => count % 2 === 0),
    answered.join(),
  )

  const more = states.map((state) => `${state} And again.`)
  t.equal((await postBatch(served, { questions, states: more })).status, 200)
  const after = await answeredBy(48)
  t.ok(after[0]! > answered[0]! && after[1]! > answered[1]!, 'a batch is shared as well')
})

t.test('while one replica has no process the model is ready, and answers', async (t) => {
  const { served, metric, ask } = await serve(t, { device: 'cpu, cpu', threads: 1 })
  t.strictSame(await metric('oi_runner_up'), [1, 1])
  const [{ processes }] = (await served.admin('models.status')) as [ModelStatus]
  process.kill(processes[0]!.pid, 'SIGSTOP')
  const asked = states.map(ask)
  const isReady = async () => t.equal(await served.server.status('/readyz'), 200)
  let leastUp = 2
  while (leastUp === 2) {
    leastUp = (await metric('oi_runner_up')).reduce((sum, up) => sum + up)
    await isReady()
  }
  for (const { status } of await Promise.all(asked)) t.equal(status, 200)
  while ((await metric('oi_runner_up'))[0] !== 1) await isReady()
  t.strictSame(await metric('oi_runner_restarts_total'), [1, 0])
})

t.test('a missing device is refused, with the list of devices', async (t) => {
  const args = ['serve', '--port', '0', '--data-dir', t.testdir(), '--device', 'cpu,CUDA77']
  const { code, stderr } = await oi(args)
  t.equal(code, 1)
  t.match(stderr, /^oi: device: expected one of CPU\b.*, got CUDA77$/m)
})

t.test('fewer replicas than devices are refused', async (t) => {
  const args = ['serve', '--data-dir', t.testdir(), '--device', 'cpu,cpu', '--replicas', '1']
  const { code, stderr } = await oi(args)
  t.equal(code, 2)
  t.match(stderr, /replicas: expected at least one for each device, got 1 for cpu, cpu/)
})

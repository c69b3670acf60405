/**
 * `oi serve` with two replicas of a model, from a settings file. Needs the built addon; the model
 * is one whose states are cached.
 */
import t, { type Test } from 'tap'
import { join } from 'node:path'
import type { Decision } from '../../src/decide/types.js'
import { oi, RunningCommand } from '../helpers/command.js'
import { fixturePath } from '../helpers/fixture.js'

interface Served {
  /** Status and body. */
  ask(path: string, body?: object): Promise<[number, string]>
  /** The values of a metric, by replica. */
  metric(name: string): Promise<number[]>
  readonly pids: readonly number[]
  readonly startLine: string
}

const file = await fixturePath('small')

async function serve(t: Test, model: object): Promise<Served> {
  const settings = { port: 0, dataDir: 'data', models: [{ file, name: 'small', ...model }] }
  const dir = t.testdir({ 'oi.json': JSON.stringify(settings) })
  const server = new RunningCommand(['serve', '--config', join(dir, 'oi.json')])
  t.teardown(async () => {
    server.process.kill('SIGTERM')
    await server.exited
  })
  const [, url] = await server.match(/Listening on (\S+)/)
  const [, key] = await server.match(/^ {2}(oi-\S{20,})$/m)
  const [startLine, pids] = await server.match(/^Model small .*, process(?:es)? (.*)$/m)
  await server.match(/^Ready$/m)
  const ask = async (path: string, body?: object): Promise<[number, string]> => {
    const reply = await fetch(url! + path, {
      headers: {
        ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        'x-oi-evidence': '1',
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    return [reply.status, await reply.text()]
  }
  const metric = async (name: string) => {
    const [, text] = await ask('/metrics')
    return [0, 1].map((replica) => {
      const labels = `\\{model="small",replica="${replica}"(?:,[^}]*answered[^}]*)?\\}`
      return Number(new RegExp(`^${name}${labels} ([0-9.e+]+)$`, 'm').exec(text)![1])
    })
  }
  return { ask, metric, pids: pids!.split(', ').map(Number), startLine }
}

const questions = { money: { type: 'noul', instructions: 'Is this about money?' } }
const states = Array.from({ length: 16 }, (_, i) => `Ticket ${i}: my card was charged twice.`)

t.test('two replicas share the states, and each state is cached at its replica', async (t) => {
  const { ask, metric, startLine, pids } = await serve(t, { replicas: 2, threads: 1 })
  t.match(startLine, /, 2 replicas, 1 thread,/)
  t.equal(pids.length, 2)
  // Each asks its model something at its start.
  const before = await metric('oi_engine_requests_total')
  const requests = async (name: string) =>
    (await metric(name)).map((count, i) => count - before[i]!)
  for (const round of [1, 2]) {
    for (const state of states) {
      const [status, body] = await ask('/v1/systemone', { state, questions })
      t.equal(status, 200)
      const { evidence } = JSON.parse(body) as Decision
      const cached = evidence!.cached_tokens
      // States of one replica share their beginning.
      if (round === 2) t.ok(cached > 8, `${cached} of a known state`)
    }
  }
  const answered = await until(requests, (counts) => counts[0]! + counts[1]! === 32)
  // Each state twice: both requests go to the same replica.
  t.ok(Math.min(...answered) >= 4, answered.join())
  t.ok(
    answered.every((count) => count % 2 === 0),
    answered.join(),
  )

  const [status, body] = await ask('/v1/systemone/batch', {
    questions,
    states: states.map((state) => `${state} And again.`),
  })
  t.equal(status, 200, body)
  const after = await until(requests, (counts) => counts[0]! + counts[1]! === 48)
  t.ok(after[0]! > answered[0]! && after[1]! > answered[1]!, 'a batch is shared as well')
})

/** Counters follow the requests a little later. */
async function until(
  metric: Served['metric'],
  condition: (counts: readonly number[]) => boolean,
): Promise<number[]> {
  for (;;) {
    const counts = await metric('oi_engine_requests_total')
    if (condition(counts)) return counts
  }
}

t.test('while one replica has no process the model is ready, and answers', async (t) => {
  const { ask, metric, pids } = await serve(t, { device: 'cpu, cpu', threads: 1 })
  t.strictSame(await metric('oi_runner_up'), [1, 1])
  process.kill(pids[0]!, 'SIGSTOP')
  const asked = states.map((state) => ask('/v1/systemone', { state, questions }))
  let leastUp = 2
  while (leastUp === 2) {
    leastUp = (await metric('oi_runner_up')).reduce((sum, up) => sum + up)
    t.equal((await ask('/readyz'))[0], 200)
  }
  for (const [status] of await Promise.all(asked)) t.equal(status, 200)
  while ((await metric('oi_runner_up'))[0] !== 1) t.equal((await ask('/readyz'))[0], 200)
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

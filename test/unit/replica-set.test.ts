/** Several engines as one: which replica gets a request, and what happens if it cannot answer. */
import t from 'tap'
import fc from 'fast-check'
import type { ScoreInput } from '../../src/engine/types.js'
import { OiError } from '../../src/errors.js'
import { ReplicaSet } from '../../src/runner/replica-set.js'
import { template, user } from '../helpers/fixture.js'
import { HeldReplica } from '../helpers/held-replica.js'

const asked = (state: number | string, questions = 1, text = 'Is it?'): ScoreInput => ({
  prefix: [template('<|start|>'), user(`Ticket ${state}`)],
  suffixes: Array.from({ length: questions }, () => ({
    parts: [user(text)],
    candidates: Int32Array.of(1, 2),
  })),
})

const replicas = (count: number) => Array.from({ length: count }, () => new HeldReplica())

/** The replica that an idle set chooses for a state. */
async function placeOf(set: ReplicaSet, all: readonly HeldReplica[], state: number | string) {
  const answered = set.score(asked(state))
  const place = all.findIndex(({ held }) => held.length > 0)
  await all[place]!.held[0]!.answer()
  await answered
  return place
}

const overloaded = (retryAfterMs: number) =>
  new OiError('ERR_OVERLOADED', 'too much is waiting', { retryAfterMs })

const turn = () => new Promise(setImmediate)

t.test('a state has its own replica, and states are spread evenly', async (t) => {
  for (const count of [2, 3, 8]) {
    const all = replicas(count)
    const set = new ReplicaSet(all)
    const states = Array.from({ length: 600 }, (_, i) => i)
    const counts = new Array<number>(count).fill(0)
    for (const state of states) {
      const place = await placeOf(set, all, state)
      counts[place]!++
      if (state % 50 === 0) t.equal(await placeOf(set, all, state), place)
    }
    const mean = states.length / count
    t.ok(Math.max(...counts) < 1.25 * mean && Math.min(...counts) > 0.75 * mean, counts.join())
  }
})

t.test('when a replica is gone only its states move, and they return with it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 6 }), fc.nat(), async (count, which) => {
      const all = replicas(count)
      const set = new ReplicaSet(all)
      const states = Array.from({ length: 40 }, (_, i) => `${which} ${i}`)
      const places = async () => {
        const found: number[] = []
        for (const state of states) found.push(await placeOf(set, all, state))
        return found
      }
      const before = await places()
      const gone = which % count
      all[gone]!.free = false
      const meanwhile = await places()
      all[gone]!.free = true
      const after = await places()
      return (
        meanwhile.every((place, i) =>
          before[i] === gone ? place !== gone : place === before[i],
        ) && after.every((place, i) => place === before[i])
      )
    }),
    { numRuns: 30 },
  )
})

/** Requests of one size begin and end; this many of the replicas are free. */
const workload = fc.record({
  count: fc.integer({ min: 2, max: 6 }),
  gone: fc.boolean(),
  steps: fc.array(
    fc.record({ ends: fc.option(fc.nat(), { freq: 2 }), state: fc.nat(12), size: fc.nat(3) }),
    { minLength: 1, maxLength: 80 },
  ),
})

t.test('no replica gets more than 1.25 times the mean of the requests, rounded up', async () => {
  await fc.assert(
    fc.asyncProperty(workload, async ({ count, gone, steps }) => {
      const all = replicas(count)
      if (gone) all[0]!.free = false
      const free = all.filter((replica) => replica.free)
      const set = new ReplicaSet(all)
      for (const { ends, state } of steps) {
        const running = all.flatMap(({ held }) => held)
        if (ends !== null && running.length > 0) {
          await running[ends % running.length]!.answer()
          await turn()
          continue
        }
        const before = all.map(({ held }) => held.length)
        void set.score(asked(state))
        const place = all.findIndex(({ held }, i) => held.length > before[i]!)
        const most = Math.ceil((1.25 * (running.length + 1)) / free.length)
        if (all[place]!.held.length > most || !all[place]!.free) return false
      }
      return true
    }),
    { numRuns: 100 },
  )
})

t.test('whatever their sizes, no request goes to a replica with more than that', async () => {
  const work = (input: ScoreInput) => 1 + input.suffixes.length * 'Is it?'.length
  const sum = (inputs: readonly ScoreInput[]) => inputs.reduce((all, each) => all + work(each), 0)
  await fc.assert(
    fc.asyncProperty(workload, async ({ count, steps }) => {
      const all = replicas(count)
      const set = new ReplicaSet(all)
      for (const { ends, state, size } of steps) {
        const running = all.flatMap(({ held }) => held)
        if (ends !== null && running.length > 0) {
          await running[ends % running.length]!.answer()
          await turn()
          continue
        }
        const input = asked(state, 4 ** size)
        const before = all.map(({ held }) => held.map((each) => each.input))
        void set.score(input)
        const place = all.findIndex(({ held }, i) => held.length > before[i]!.length)
        const total = sum([...before.flat(), input])
        if (sum(before[place]!) >= (1.25 * total) / count) return false
      }
      return true
    }),
    { numRuns: 100 },
  )
})

t.test('a state that all ask about at once goes to several replicas', async (t) => {
  const all = replicas(2)
  const set = new ReplicaSet(all)
  for (let i = 0; i < 8; i++) void set.score(asked('the same'))
  t.strictSame(all.map(({ held }) => held.length).sort(), [3, 5])
})

t.test('if no replica has a process, a request waits for the first new one', async (t) => {
  const all = replicas(3)
  for (const [i, replica] of all.entries()) {
    Object.assign(replica, { free: false, retryAfterMs: [300, 100, 200][i] })
  }
  const set = new ReplicaSet(all)
  for (const state of [1, 2, 3, 4]) t.equal(await placeOf(set, all, state), 1)
})

t.test('if one replica refuses, the others are asked, the least busy first', async (t) => {
  const all = replicas(3)
  const set = new ReplicaSet(all)
  const own = await placeOf(set, all, 'A')
  const [busy, idle] = [0, 1, 2].filter((i) => i !== own)
  // A state of that replica.
  for (let state = 0; all[busy!]!.held.length === 0; state++) {
    if ((await placeOf(set, all, state)) === busy) void set.score(asked(state))
  }
  const answer = set.score(asked('A'))
  all[own]!.held[0]!.fail(overloaded(700))
  await turn()
  t.equal(all[idle!]!.held.length, 1)
  all[idle!]!.held[0]!.fail(overloaded(300))
  await turn()
  all[busy!]!.held[1]!.fail(overloaded(500))
  await t.rejects(answer, { code: 'ERR_OVERLOADED', retryAfterMs: 300 })
})

t.test('any other error is the answer', async (t) => {
  const all = replicas(2)
  const set = new ReplicaSet(all)
  const answer = set.score(asked('A'))
  all
    .find(({ held }) => held.length > 0)!
    .held[0]!.fail(new OiError('ERR_STATE_TOO_LONG', 'too long'))
  await t.rejects(answer, { code: 'ERR_STATE_TOO_LONG' })
  t.strictSame(
    all.map(({ held }) => held.length),
    [0, 0],
  )
})

t.test('workspace, signal and remaining time reach the replica', async (t) => {
  const all = replicas(2)
  const set = new ReplicaSet(all)
  const { signal } = new AbortController()
  const answer = set.score(asked('A'), { workspace: 7, deadlineMs: 1000, signal })
  const [first] = all.flatMap(({ held }) => held)
  t.match(first!.options, { workspace: 7, signal })
  await new Promise((resolve) => setTimeout(resolve, 20))
  first!.fail(overloaded(1))
  await turn()
  const [second] = all.flatMap(({ held }) => held)
  t.match(second!.options, { workspace: 7, signal })
  t.ok(second!.options.deadlineMs! <= 985, `${second!.options.deadlineMs} ms`)
  await second!.answer()
  t.equal((await answer).cachedTokens, 0)
})

t.test('the least busy replica with a process tokenizes texts', async (t) => {
  const all = replicas(3)
  const set = new ReplicaSet(all)
  const busy = await placeOf(set, all, 'A')
  void set.score(asked('A'))
  const [gone, idle] = [0, 1, 2].filter((i) => i !== busy)
  all[gone!]!.free = false
  await set.tokenize([user('one two')])
  t.equal(await set.countTokens('one two'), 2)
  t.equal(all[idle!]!.tokenized, 2)
})

t.test('counters are given for all replicas, and for each', async (t) => {
  const all = replicas(2)
  all[0]!.counters = { answered: 3, backlogMs: 20, tokensPerSecond: 100 }
  all[1]!.counters = { answered: 4, backlogMs: 50, tokensPerSecond: 200 }
  const set = new ReplicaSet(all)
  t.match(set.stats(), { answered: 7, backlogMs: 50, tokensPerSecond: 300, failed: 0 })
  t.match(set.replicas(), [{ answered: 3 }, { answered: 4 }])
})

t.test('close() closes all', async (t) => {
  const all = replicas(2)
  await new ReplicaSet(all).close()
  t.ok(all.every(({ closed }) => closed))
})

t.test('a set says on which devices it runs', async (t) => {
  const on = (device: string) => new HeldReplica({ device })
  t.equal(new ReplicaSet([on('CPU'), on('CPU')]).info.device, 'CPU')
  t.equal(new ReplicaSet([on('CUDA0'), on('CUDA1')]).info.device, 'CUDA0, CUDA1')
})

/**
 * Two replicas of one model, each in its own process on one thread, against one engine: the same
 * share of the work is cached, and each replica does its part.
 *
 * Needs the built addon and the small fixture.
 */
import t from 'tap'
import { type EngineOptions, openEngine } from '../../src/engine/engine.js'
import type { Engine, ScoreInput } from '../../src/engine/types.js'
import { openIsolated } from '../../src/runner/isolate.js'
import { openReplicas } from '../../src/runner/open-replicas.js'
import type { Replica } from '../../src/runner/replica-set.js'
import type { SupervisedEngine } from '../../src/runner/supervised-engine.js'
import { candidates, fixturePath, unique, user } from '../helpers/fixture.js'
import { until } from '../helpers/until.js'

const options = { modelPath: await fixturePath('small'), threads: 1, contextTokens: 4096 }
const [states, rounds, clients] = [20, 30, 8]

/** A request about a state, each time with another question of the same length. */
const asked = (i: number): ScoreInput => ({
  ...unique(i % states, 60 + (i % states)),
  suffixes: [{ parts: [user(` Is it ${100 + Math.floor(i / states)}?`)], candidates }],
})

interface Served {
  /** Share of the tokens of all prefixes. */
  readonly cachedShare: number
  readonly logits: readonly Float32Array[]
}

/** States in turn, each `rounds` times. */
async function serve(engine: Engine): Promise<Served> {
  let [next, prefix, cached] = [0, 0, 0]
  const logits: Float32Array[] = []
  const client = async () => {
    while (next < states * rounds) {
      const i = next++
      const output = await engine.score(asked(i))
      prefix += output.prefixTokens
      cached += output.cachedTokens
      logits[i] = output.logits
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return { cachedShare: cached / prefix, logits }
}

/** The requests of each replica. */
class Watch {
  /** Requests under way in each. */
  readonly running: number[] = []
  /** For each replica, its number of requests about each state. */
  readonly given: Map<string, number>[] = []
  /** The largest excess over a replica's bound, at any of its requests. */
  mostOver = -Infinity

  async open(options: EngineOptions): Promise<Replica> {
    const engine = await openIsolated(options)
    const i = this.running.push(0) - 1
    this.given.push(new Map())
    const score = engine.score.bind(engine)
    engine.score = async (...args) => {
      this.#note(i, args[0].prefix[0]!.text)
      try {
        return await score(...args)
      } finally {
        this.running[i]!--
      }
    }
    return engine
  }

  #note(i: number, state: string): void {
    const [running, given] = [this.running, this.given[i]!]
    running[i]!++
    given.set(state, (given.get(state) ?? 0) + 1)
    const total = running.reduce((sum, count) => sum + count)
    const bound = Math.ceil((1.25 * total) / running.length)
    this.mostOver = Math.max(this.mostOver, running[i]! - bound)
  }

  /** The share of requests that went to the replica with most requests about their state. */
  stayed(): number {
    const counts = Array.from({ length: states }, (_, i) =>
      this.given.map((given) => given.get(asked(i).prefix[0]!.text) ?? 0),
    )
    const [stayed, all] = [counts.map((each) => Math.max(...each)), counts.flat()]
    const sum = (list: readonly number[]) => list.reduce((total, count) => total + count)
    return sum(stayed) / sum(all)
  }
}

t.test('states stay with their replica, and no replica exceeds its part', async (t) => {
  const one = await openEngine(options)
  const alone = await serve(one)
  await one.close()

  const watch = new Watch()
  const engine = await openReplicas(['cpu', 'cpu'], options, (each) => watch.open(each))
  t.teardown(() => engine.close())
  const both = await serve(engine)
  t.comment(`cached: ${alone.cachedShare.toFixed(3)} alone, ${both.cachedShare.toFixed(3)} of two`)
  t.ok(both.cachedShare > 0.95 * alone.cachedShare, `${both.cachedShare} of ${alone.cachedShare}`)
  // At random it would be .57.
  t.ok(watch.stayed() > 0.65, `${watch.stayed().toFixed(2)} went where most of their state went`)
  t.equal(watch.mostOver, 0, 'requests under way, at each that is given to a replica')
  const isClose = (i: number) =>
    both.logits[i]!.every((logit, j) => Math.abs(logit - alone.logits[i]![j]!) < 1e-3)
  t.ok(
    both.logits.every((_, i) => isClose(i)),
    'the answers are those of one engine',
  )
})

t.test('while one has no process the other answers at once, and states return', async (t) => {
  const all: SupervisedEngine[] = []
  const engine = await openReplicas(['cpu', 'cpu'], options, async (each) => {
    all.push(await openIsolated(each))
    return all.at(-1)!
  })
  t.teardown(() => engine.close())
  const answered = () => all.map((each) => each.stats().answered)
  /** The number of requests about each state, by replica. */
  const places = async () => {
    const given: number[] = []
    for (let i = 0; i < states; i++) {
      const before = answered()[0]! + answered()[1]!
      const first = answered()[0]!
      await engine.score(asked(i))
      await until(() => answered()[0]! + answered()[1]! > before)
      given.push(answered()[0]! > first ? 0 : 1)
    }
    return given
  }
  const before = await places()
  t.ok(before.includes(0) && before.includes(1), before.join(''))

  process.kill(all[0]!.pid!, 'SIGKILL')
  await until(() => !all[0]!.ready)
  const startMs = performance.now()
  const outputs = await Promise.all(
    Array.from({ length: states }, (_, i) => engine.score(asked(i))),
  )
  const waited = !all[0]!.ready
  t.equal(outputs.length, states)
  t.ok(
    waited,
    `all were answered in ${(performance.now() - startMs).toFixed()} ms, before it was back`,
  )
  await until(() => all[0]!.ready)
  t.strictSame(await places(), before)
})

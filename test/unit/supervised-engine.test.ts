/**
 * Supervision over simulated processes: which calls are asked again, which are given up, how long
 * the pauses are. With real processes: test/native/isolated.test.ts.
 */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { noStats } from '../../src/engine/stats.js'
import type { ScoreInput, ScoreOptions } from '../../src/engine/types.js'
import { OiError } from '../../src/errors.js'
import { type RunnerEnd, RunnerEnded } from '../../src/runner/runner-process.js'
import { SupervisedEngine } from '../../src/runner/supervised-engine.js'
import type { InsideCall, SupervisorEvents } from '../../src/runner/supervision.js'
import { createFakeEngine } from '../helpers/fake-engine.js'
import { candidates, outcomeOf, user } from '../helpers/fixture.js'
import { until } from '../helpers/until.js'

const input = (text: string): ScoreInput => ({
  prefix: [user(text)],
  suffixes: [{ parts: [user(' Is it so?')], candidates }],
})
const textOf = ({ prefix }: ScoreInput) => prefix[0]!.text

/** Processes that end when the test, or a request, says so. */
class Played {
  readonly pids: number[] = []
  /** Texts of all requests in order, and the requests that were inside with them. */
  readonly asked: { readonly text: string; readonly beside: readonly string[] }[] = []
  /** The calls inside at each end. */
  readonly inside: (readonly InsideCall[])[] = []
  readonly pauses: number[] = []
  /** Requests wait for this. */
  gate: Promise<unknown> = Promise.resolve()
  /** Opening fails while this is set. */
  broken: Error | undefined
  /** Loading lasts until it is aborted. */
  endless = false
  loading = false
  end: (cause?: string) => void = () => {}

  readonly events: SupervisorEvents = {
    ended: (_end, inside) => this.inside.push(inside.map((call) => ({ ...seen(call) }))),
    failed: (_error, pauseMs) => this.pauses.push(pauseMs),
  }

  open(): Promise<SupervisedEngine> {
    return SupervisedEngine.open((onEnd, signal) => this.#open(onEnd, signal), this.events)
  }

  async #open(onEnd: (end: RunnerEnd) => void, signal: AbortSignal) {
    if (this.broken !== undefined) throw this.broken
    if (this.endless) {
      this.loading = true
      await sleep(60_000, undefined, { signal })
    }
    const pid = this.pids.push(0)
    const inside = new Map<string, (error: Error) => void>()
    let ended: Error | undefined
    const end = (cause = 'SIGKILL') => {
      if (ended !== undefined) return
      const how = { pid, cause, livedMs: 1, lastWords: '', stats: noStats() }
      ended = new RunnerEnded(how)
      onEnd(how)
      for (const reject of inside.values()) reject(ended)
    }
    this.end = end
    const engine = createFakeEngine()
    const { score } = engine
    engine.score = async (asked: ScoreInput, options?: ScoreOptions) => {
      if (ended !== undefined) throw ended
      const text = textOf(asked)
      this.asked.push({ text, beside: [...inside.keys()] })
      const { promise, reject } = withReject()
      inside.set(text, reject)
      try {
        await Promise.race([this.gate, promise])
        if (text.startsWith('poison')) end('SIGABRT')
        return await Promise.race([score.call(engine, asked, options), promise])
      } finally {
        inside.delete(text)
      }
    }
    return { engine, pid }
  }
}

const seen = ({ kind, textLength, questions, ends, requestId }: InsideCall) =>
  ({ kind, textLength, questions, ends, requestId }) as InsideCall

function withReject() {
  let reject!: (error: Error) => void
  const promise = new Promise<never>((_, onError) => (reject = onError))
  promise.catch(() => {})
  return { promise, reject }
}

function gate() {
  let open!: () => void
  const closed = new Promise<void>((resolve) => (open = resolve))
  return { closed, open }
}

t.test('of several requests inside, each is asked again alone, and once', async (t) => {
  const played = new Played()
  const engine = await played.open()
  const { closed, open } = gate()
  played.gate = closed
  const names = ['a', 'b', 'poison 1', 'c', 'poison 2', 'd']
  const asked = names.map((name) => outcomeOf(engine.score(input(name))))
  open()
  // They come while the others are asked alone, and wait.
  await until(() => played.inside.length > 0)
  const late = ['e', 'f'].map((name) => engine.score(input(name)))
  t.strictSame(await Promise.all(asked), [
    ...['answered', 'answered', 'ERR_ENGINE_INTERNAL'],
    ...['answered', 'ERR_ENGINE_INTERNAL', 'answered'],
  ])
  await Promise.all(late)
  const again = played.asked.slice(names.length)
  t.strictSame(
    again.slice(0, names.length),
    names.map((text) => ({ text, beside: [] })),
  )
  t.strictSame(
    again
      .slice(names.length)
      .map(({ text }) => text)
      .sort(),
    ['e', 'f'],
  )
  t.equal(engine.counts().gaveUp, 2)
  t.equal(engine.counts().askedAgain, names.length)
  t.strictSame(engine.counts().ends, { SIGABRT: 3 })
  t.equal(engine.counts().restarts, 3)
  await engine.close()
})

t.test('requests inside are reported by sizes and ids', async (t) => {
  const played = new Played()
  const engine = await played.open()
  const { closed, open } = gate()
  played.gate = closed
  const pending = engine.score(input('four'), { requestId: 'req_1' })
  await until(() => played.asked.length === 1)
  played.end()
  open()
  await pending
  const textLength = 'four Is it so?'.length
  t.strictSame(played.inside, [
    [{ kind: 'score', textLength, questions: 1, ends: 0, requestId: 'req_1' }],
  ])
  await engine.close()
})

t.test(
  'the next start is immediate after a process that answered, otherwise later each time',
  async (t) => {
    const played = new Played()
    const engine = await played.open()
    played.broken = new Error('no')
    played.end()
    await until(() => played.pauses.length === 3)
    t.strictSame(played.pauses, [200, 400, 800])
    t.ok(engine.retryAfterMs > 400)
    played.broken = undefined
    await until(() => engine.ready)
    // That process has answered nothing.
    played.end()
    t.ok(engine.retryAfterMs > 1000, `${engine.retryAfterMs}`)
    await until(() => engine.ready)
    await engine.score(input('a'))
    played.end()
    t.ok(engine.retryAfterMs < 500, `${engine.retryAfterMs}`)
    await engine.close()
  },
)

t.test('closing waits neither for a pause nor for a model that is being loaded', async (t) => {
  for (const how of ['pause', 'load'] as const) {
    const played = new Played()
    const engine = await played.open()
    if (how === 'load') played.endless = true
    else played.broken = new Error('no')
    played.end()
    await until(() => (how === 'load' ? played.loading : played.pauses.length === 4))
    const waiting = outcomeOf(engine.score(input('a')))
    const startMs = performance.now()
    await engine.close()
    t.ok(performance.now() - startMs < 1000, how)
    t.equal(await waiting, 'ERR_ENGINE_CLOSED')
    await t.rejects(engine.score(input('a')), { code: 'ERR_ENGINE_CLOSED' })
  }
})

t.test('a request that waits for a process can be cancelled, and keeps its deadline', async (t) => {
  const played = new Played()
  const engine = await played.open()
  played.endless = true
  played.end()
  const leaving = new AbortController()
  const cancelled = outcomeOf(engine.score(input('a'), { signal: leaving.signal }))
  const late = outcomeOf(engine.score(input('b'), { deadlineMs: 300 }))
  await sleep(20)
  leaving.abort()
  t.equal(await cancelled, 'ERR_ABORTED')
  // Refused or late: the order is undefined.
  t.match(await late, /^ERR_(?:OVERLOADED|TIMEOUT)$/)
  await engine.close()
})

t.test('requests inside are refused if no process can be ready in their time', async (t) => {
  const played = new Played()
  const engine = await played.open()
  played.broken = new Error('no')
  played.end()
  await until(() => played.pauses.length === 2)
  played.broken = undefined
  await until(() => engine.ready)
  const { closed } = gate()
  played.gate = closed
  played.broken = new Error('no')
  const asked = ['a', 'b'].map((name) => outcomeOf(engine.score(input(name), { deadlineMs: 500 })))
  await until(() => played.asked.length === 2)
  played.end()
  t.strictSame(await Promise.all(asked), ['ERR_OVERLOADED', 'ERR_OVERLOADED'])
  await engine.close()
})

t.test('an error of the engine does not end the process', async (t) => {
  const played = new Played()
  const engine = await played.open()
  played.gate = Promise.reject(new OiError('ERR_STATE_TOO_LONG', 'too long'))
  played.gate.catch(() => {})
  await t.rejects(engine.score(input('a')), { code: 'ERR_STATE_TOO_LONG' })
  t.equal(played.asked.length, 1)
  t.strictSame(engine.counts(), { ends: {}, restarts: 0, askedAgain: 0, gaveUp: 0 })
  await engine.close()
})

t.test('closing waits for requests that are asked alone, and for those behind them', async (t) => {
  const played = new Played()
  const engine = await played.open()
  const { closed, open } = gate()
  played.gate = closed
  const asked = ['a', 'b', 'c'].map((name) => outcomeOf(engine.score(input(name))))
  await until(() => played.asked.length === 3)
  played.end()
  await until(() => played.asked.length === 4)
  const behind = outcomeOf(engine.score(input('d')))
  const end = engine.close()
  t.equal(await outcomeOf(engine.score(input('e'))), 'ERR_ENGINE_CLOSED', 'nothing new is accepted')
  open()
  t.strictSame(await Promise.all([...asked, behind]), Array(4).fill('answered'))
  await end
})

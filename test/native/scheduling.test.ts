/**
 * The order of requests.
 *
 * Needs the built addon and the `small` and `hybrid` fixtures. Orders and shares are asserted,
 * never times: they are the engine's, however late JavaScript looks. Waiting requests take seconds,
 * and are cancelled afterwards: so none is done before the others have come.
 */
import t from 'tap'
import { setMaxListeners } from 'node:events'
import type { Engine } from '../../src/engine/types.js'
import {
  endless,
  endlessContext,
  isolated,
  outcomeOf,
  unique,
  withEngine,
} from '../helpers/fixture.js'
import { bestOfThree } from '../helpers/trials.js'
import { until } from '../helpers/until.js'

// One thread: more of them wait for each other on a shared machine.
const options = { contextTokens: 4096, maxBacklogMs: 2 ** 31, hostCacheBytes: 0, threads: 1 }

t.test('a short request finishes before a long one that came first', (t) =>
  withEngine('small', { ...options, contextTokens: endlessContext }, async (engine) => {
    for (let trial = 0; trial < 3; trial++) {
      const leaving = new AbortController()
      const long = outcomeOf(engine.score(endless(`long ${trial}`), { signal: leaving.signal }))
      const shorts = Promise.all(
        [1, 2, 3].map((i) => engine.score(unique(`short ${trial} ${i}`, 5))),
      ).then(() => 'short')
      t.equal(await Promise.race([long, shorts]), 'short')
      leaving.abort()
      t.equal(await long, 'ERR_ABORTED', 'the long one was not done')
    }
  }),
)

// A quarter of the tokens are the oldest request's, so the short ones get three times its tokens
// while it runs; the bound leaves as much again for the part of a step that it cannot use. Shortest
// first, it would be behind all of them: more than thirty times its tokens.
t.test('a long request finishes although short ones keep coming', (t) =>
  withEngine('small', options, async (engine) => {
    const wrong = await bestOfThree(async (trial) => {
      const leaving = new AbortController()
      setMaxListeners(1000, leaving.signal)
      let running = true
      let others = 0
      const long = engine.score(unique(`long ${trial}`, 1500)).finally(() => (running = false))
      // It has its place among the others, or is done already. A runner takes requests in order,
      // and its counters come too late.
      await until(() => isolated || !running || engine.stats().queuedTokens > 0)
      const shorts = Array.from({ length: 900 }, async (_, i) => {
        const short = engine.score(unique(`${trial} ${i}`, 40), { signal: leaving.signal })
        const { prefixTokens, suffixTokens } = await short
        if (running) others += prefixTokens + suffixTokens
      })
      const ended = Promise.allSettled(shorts)
      const { prefixTokens, suffixTokens } = await long
      leaving.abort()
      await ended
      const ratio = others / (prefixTokens + suffixTokens)
      t.ok(ratio < 6, `the others had ${ratio.toFixed(2)} times its tokens`)
      // They had less if they came when it was nearly done, which can happen on a busy machine.
      return ratio > 0.5 ? undefined : `the others had ${ratio.toFixed(2)} times its tokens`
    })
    t.strictSame(wrong, [], 'and does not hold the short ones up')
  }),
)

/** Properties of requests of this many words. */
async function measure(engine: Engine, words: number) {
  const { prefixTokens, suffixTokens } = await engine.score(unique('measured', words))
  const tokens = prefixTokens + suffixTokens
  return {
    /** The number of them in eight steps: as much as a workspace may make up for. */
    burst: Math.ceil((8 * engine.info.stepTokens) / tokens),
    /**
     * Waits until all of this many new requests are tokenized, and so have their places; some have
     * begun, or were answered since `before`.
     */
    allThere: (asked: number, before: number) =>
      until(() => {
        const { answered, queuedTokens, queuedRequests } = engine.stats()
        const there = answered - before + queuedRequests >= asked
        return there && queuedTokens >= (queuedRequests - 8) * (tokens - 3)
      }),
  }
}

t.test('two workspaces that flood get equal shares at any time', (t) =>
  withEngine('small', options, async (engine) => {
    const { burst, allThere } = await measure(engine, 100)
    const most = burst + 8 // the second came later, and may make up for it
    const each = 500
    const wrong = await bestOfThree(async (trial) => {
      const before = engine.stats().answered
      const order: number[] = []
      // The first workspace has all of its requests in the queue before the second has any.
      const all = Array.from({ length: 2 * each }, async (_, i) => {
        const workspace = Math.floor(i / each)
        await engine.score(unique(`${trial} ${i}`, 100), { workspace })
        order.push(workspace)
      })
      await allThere(2 * each, before)
      // How many are done by now depends on the machine.
      const begun = engine.stats().answered - before
      await Promise.all(all)
      const left = [each, each]
      const served = [0, 0]
      const leads: number[] = []
      for (const [i, workspace] of order.entries()) {
        if (i >= begun) {
          served[workspace]!++
          leads.push(Math.abs(served[0]! - served[1]!))
        }
        if (--left[workspace]! === 0) break // from here on the other one is alone
      }
      const lead = Math.max(...leads)
      if (leads.length <= 60) return `only ${leads.length} answers to compare`
      return lead <= most ? undefined : `a lead of ${lead}, ${most} at most`
    })
    t.strictSame(wrong, [])
  }),
)

t.test('one request beside 1000 of another workspace is answered before half of them', (t) =>
  withEngine('small', options, async (engine) => {
    const { allThere } = await measure(engine, 200)
    const wrong = await bestOfThree(async (trial) => {
      const leaving = new AbortController()
      const { signal } = leaving
      setMaxListeners(1000, signal)
      let before = 0
      const { answered } = engine.stats()
      const flood = Array.from({ length: 1000 }, (_, i) =>
        engine
          .score(unique(`${trial} ${i}`, 200), { workspace: 1, signal })
          .then(() => before++)
          .catch(() => {}),
      )
      await allThere(1000, answered)
      await engine.score(unique(`${trial} one`, 200), { workspace: 2 })
      // First come, first served, it would be the last one.
      const wrong = before < 500 ? undefined : `after ${before} others`
      leaving.abort()
      await Promise.all(flood)
      return wrong
    })
    t.strictSame(wrong, [])
  }),
)

// A recurrent model has room for four prefixes at once: long ones give way.
for (const [name, words, contextTokens] of [
  ['small', 30_000, 131_072],
  ['hybrid', 10_000, 49_152],
] as const) {
  t.test(`${name}: a short request does not wait for long ones of four workspaces`, (t) =>
    withEngine(name, { ...options, contextTokens, microbatchTokens: 64 }, async (engine) => {
      const leaving = new AbortController()
      const longs = [1, 2, 3, 4].map((i) =>
        engine.score(unique(`long ${i}`, words), { workspace: 10 + i, signal: leaving.signal }),
      )
      const ends = longs.map(outcomeOf)
      // All of them are there; or have been for so long that this was not seen.
      const enough = () => engine.stats().steps >= 100
      await until(() => engine.stats().queuedTokens > 3 * words || enough())
      const begun = engine.stats().steps + longs.length
      await until(() => engine.stats().steps >= begun)
      const short = engine.score(unique('short', 5), { workspace: 1 }).then(() => 'short')
      t.equal(await Promise.race([short, ...ends]), 'short')
      leaving.abort()
      t.same(await Promise.all(ends), longs.fill('ERR_ABORTED' as never), 'none of them was done')
    }),
  )
}

t.test('a workspace that returns from a pause makes up for eight steps and no more', (t) =>
  withEngine('small', options, async (engine) => {
    const { burst, allThere } = await measure(engine, 40)
    const wrong = await bestOfThree(async (trial) => {
      const order: number[] = []
      const ask = (id: string, workspace: number) =>
        engine.score(unique(`${trial} ${id}`, 40), { workspace }).then(() => order.push(workspace))
      await ask('first', 2)
      const before = engine.stats().answered
      const flood = Array.from({ length: 900 }, (_, i) => ask(`a ${i}`, 1))
      await Promise.all(flood.slice(0, 30))
      await allThere(900, before)
      const { answered } = engine.stats()
      const others = Array.from({ length: 70 }, (_, i) => ask(`b ${i}`, 2))
      const meanwhile = engine.stats().answered - answered
      await Promise.all([...flood, ...others])
      // From its first answer on: how many of the flood came before depends on the machine.
      const early = order.slice(order.indexOf(2, 1)).slice(0, 70)
      const [ones, twos] = [1, 2].map((id) => early.filter((other) => other === id).length)
      const said = `of 70 answers ${twos} and ${ones}; ${meanwhile} while they were asked`
      // It is served at once, and the other workspace is not forgotten.
      return twos! > ones! && ones! >= (70 - burst) / 2 - 8 ? undefined : said
    })
    t.strictSame(wrong, [])
  }),
)

// BUG: the very first workspace was taken for one that came after another.
t.test('a workspace that has the model to itself gets whole steps from the beginning', (t) =>
  withEngine('small', options, async (engine) => {
    // The last request is a little more than a step, and still one step.
    for (const n of [140, 141, 200]) await engine.score(unique(n, n), { workspace: 7 })
    t.equal(engine.stats().steps, 3)
  }),
)

/**
 * Room in the context: the cost to other requests of a request that is cancelled, that does not fit
 * yet, or that gives way.
 *
 * Needs the built addon and the `small` and `hybrid` fixtures. Tokens are counted; times are not
 * asserted.
 */
import t from 'tap'
import { setTimeout as delay } from 'node:timers/promises'
import type { Engine, Suffix } from '../../src/engine/types.js'
import { outcomeOf, text, unique, user, withEngine } from '../helpers/fixture.js'
import { relativeError } from '../helpers/reference.js'
import { bestOfThree } from '../helpers/trials.js'
import { until } from '../helpers/until.js'

// A step of a GPU takes whole batches.
const sizes = { batchTokens: 64, microbatchTokens: 64 }
const options = { maxBacklogMs: 2 ** 31, hostCacheBytes: 0, threads: 1, ...sizes }

/** Waits until steps have run, so that earlier requests are under way, or have ended. */
async function someSteps(engine: Engine, count: number): Promise<void> {
  const { steps } = engine.stats()
  await until(() => {
    const now = engine.stats()
    return now.steps >= steps + count || now.queuedRequests === 0
  })
}

// BUG: a step whose only request was cancelled was interrupted. A recurrent model then restarted
// all requests, and dropped the cached states.
for (const name of ['small', 'hybrid'] as const) {
  t.test(`${name}: a cancelled request loses its own tokens and no others`, (t) =>
    withEngine(name, { ...options, contextTokens: 32_768 }, async (engine) => {
      const kept = unique('kept', 40)
      const first = await engine.score(kept)
      const each = await engine.score(unique('measured', 100))
      let running = true
      const long = engine.score(unique('long', 6000), { workspace: 1 })
      void long.finally(() => (running = false))
      await someSteps(engine, 25)
      for (let i = 0; i < 12 && running; i++) {
        const leaving = new AbortController()
        const request = { workspace: 2, signal: leaving.signal }
        const one = outcomeOf(engine.score(unique(`hung up ${i}`, 100), request))
        await delay(i % 4)
        leaving.abort()
        await one
      }
      const again = await engine.score(kept)
      t.equal(again.cachedTokens, again.prefixTokens, 'what was cached still is')
      t.ok(relativeError(again.logits, first.logits) < 1e-3)
      t.equal((await long).cachedTokens, 0)
      const { cancelled, lostTokens } = engine.stats()
      const most = cancelled * (each.prefixTokens + each.suffixTokens + 2)
      t.ok(lostTokens <= most, `${lostTokens} tokens lost, ${cancelled} hung up`)
    }),
  )
}

// BUG: at every step all cached states were evicted for it, and then it had no room yet.
t.test('a request that cannot fit yet evicts nothing', (t) =>
  withEngine('small', { ...options, contextTokens: 16_384 }, async (engine) => {
    const cached = unique('cached', 2000)
    const wrong = await bestOfThree(async (trial) => {
      await engine.score(cached)
      const leaving = new AbortController()
      const { signal } = leaving
      const running = outcomeOf(engine.score(unique(`${trial} a`, 13_000), { signal }))
      const waiting = outcomeOf(engine.score(unique(`${trial} b`, 5000), { signal }))
      const bothThere = () => engine.stats().queuedTokens > 15_000
      await until(() => bothThere() || engine.stats().queuedRequests < 2)
      await someSteps(engine, 8)
      const { cachedTokens, prefixTokens } = await engine.score(cached)
      const { queuedRequests } = engine.stats()
      leaving.abort()
      const ends = await Promise.all([running, waiting])
      if (queuedRequests < 2) return `${ends.join(', ')}: too late to tell`
      return cachedTokens === prefixTokens ? undefined : `${cachedTokens} tokens are left`
    })
    t.strictSame(wrong, [])
  }),
)

// BUG: it gave way to each of them, and restarted from the first token.
for (const [name, contextTokens] of [
  ['small', 8192],
  ['hybrid', 1536],
] as const) {
  t.test(`${name}: a long request ends beside short ones that take its room`, (t) =>
    withEngine(name, { ...options, contextTokens }, async (engine) => {
      let running = true
      const long = engine.score(unique('long', 0.85 * contextTokens), { workspace: 1 })
      void long.finally(() => (running = false))
      let others = 0
      const stream = Array.from({ length: 6 }, async (_, i) => {
        for (let n = 0; running && others < 400; n++, others++) {
          await engine.score(unique(`${i} ${n}`, contextTokens / 6), { workspace: 2 })
        }
      })
      const { prefixTokens } = await long
      t.ok(others < 400, `answered beside ${others} others`)
      const { lostTokens } = engine.stats()
      t.ok(lostTokens <= prefixTokens, `${lostTokens} of ${prefixTokens} tokens lost`)
      await Promise.all(stream)
    }),
  )
}

/** The same question behind more text. */
const longer = ({ parts, candidates }: Suffix): Suffix => ({
  parts: [user(text(60)), ...parts],
  candidates,
})

// BUG: requests for cached states were admitted however many there were. Beside a new state, which a
// recurrent model evaluates in a step of its own, they held every sequence, and none was left for a
// question: "no request could go on".
for (const name of ['small', 'hybrid'] as const) {
  t.test(`${name}: requests for cached states leave room for each other's questions`, (t) =>
    withEngine(name, { ...options, contextTokens: 8192, maxForks: 1 }, async (engine) => {
      const cached = Array.from({ length: 4 }, (_, i) => {
        const { prefix, suffixes } = unique(`cached ${i}`, 12)
        return { prefix, suffixes: suffixes.map(longer) }
      })
      for (let round = 0; round < 40; round++) {
        for (const state of cached) await engine.score(state)
        // The one with the least to do is first.
        const all = [unique(`new ${round}`, 2), ...cached].map((state) => engine.score(state))
        const outcomes = await Promise.all(all.map(outcomeOf))
        t.same([...new Set(outcomes)], ['answered'])
      }
    }),
  )
}

/**
 * The promises of the design ("Promises", 1 to 4 and 6), kept while other requests run, are
 * cancelled and run out of time.
 *
 * Needs the built addon, oi-reference and the fixtures. Bounds: 1e-3 relative on CPU with F32
 * weights; the same bits with `deterministic`, and where our own kernels compute everything. Promise
 * 5 is tested in test/model.
 */
import t from 'tap'
import { join } from 'node:path'
import type { Engine, ScoreInput } from '../../src/engine/types.js'
import { candidates, fixturePath, question, text, user, withEngine } from '../helpers/fixture.js'
import { promptTokens, sameAnswer, startLoad } from '../helpers/load.js'
import { referenceLogits, relativeError } from '../helpers/reference.js'
import { bestOfThree } from '../helpers/trials.js'

const width = candidates.length + 1
const slice = (logits: Float32Array, i: number) => logits.slice(i * width, (i + 1) * width)

// Shares no beginning with the load, so that cached parts of it are its own.
const request: ScoreInput = {
  prefix: [user(`It is asked: ${text(80)}`)],
  suffixes: [question(5), question(7), question(6)],
}
const branch: ScoreInput = { ...request, prefix: [...request.prefix, user(' Then the rain came.')] }
const reversed: ScoreInput = { ...request, suffixes: request.suffixes.toReversed() }
const more: ScoreInput = { ...request, suffixes: [question(1), ...request.suffixes] }
const alone: ScoreInput = { ...request, suffixes: [request.suffixes[1]!] }
const filling: ScoreInput = { prefix: [user(`x ${text(880)}`)], suffixes: [question(0)] }

const score = (engine: Engine, request: ScoreInput) => engine.score(request, { workspace: 1 })

for (const name of ['small', 'dense', 'hybrid', 'window', 'experts', 'oss'] as const) {
  let expected: number[] | undefined
  for (const deterministic of [false, true]) {
    t.test(`${name}${deterministic ? ', deterministic' : ''}`, async (t) => {
      const options = {
        contextTokens: 1024,
        maxForks: 4,
        threads: 1, // more of them wait for each other on a shared machine
        // Deterministic mode cuts prefixes at its multiples: short prefixes should have some.
        microbatchTokens: 64,
        maxBacklogMs: 2 ** 31,
        deterministic,
        diskCacheDir: join(t.testdir({}), 'states'),
      }
      const { sameBits } = await withEngine(name, options, async ({ info }) => info)
      const same = sameAnswer(sameBits)
      // Their saved states return to other cells.
      const kept = !deterministic || !['window', 'oss'].includes(name)
      const underLoad = async <V>(engine: Engine, seed: number, use: () => Promise<V>) => {
        const load = await startLoad(engine, { seed, width: 8, same })
        try {
          return await use()
        } finally {
          const { wrong } = await load.stop()
          t.same(wrong, [], 'the load itself is answered rightly')
        }
      }

      const cold = await withEngine(name, options, async (engine) => {
        const cold = await score(engine, request)
        t.equal(cold.cachedTokens, 0)
        expected ??= await referenceLogits(await fixturePath(name), engine, branch)

        const [branched, again, twin, back, four, single] = await underLoad(engine, 1, () =>
          Promise.all(
            [branch, request, request, reversed, more, alone].map((r) => score(engine, r)),
          ),
        )
        const parity = relativeError(branched!.logits, expected)
        t.ok(parity < 1e-3, `parity: llama.cpp alone gives the same: ${parity}`)
        t.ok(same(again!.logits, cold.logits), 'repeats: asked again')
        t.ok(same(twin!.logits, cold.logits), 'repeats: asked at the same time')
        if (kept) t.equal(again!.cachedTokens, again!.prefixTokens)
        for (let i = 0; i < 3; i++) {
          const one = slice(cold.logits, i)
          t.ok(same(slice(back!.logits, 2 - i), one), `isolation: reversed, question ${i}`)
          t.ok(same(slice(four!.logits, 1 + i), one), `isolation: among four, question ${i}`)
        }
        t.ok(same(single!.logits, slice(cold.logits, 1)), 'isolation: alone')

        // Pushes everything else out of the context.
        await score(engine, filling)
        const before = engine.stats().hostHits
        const host = await underLoad(engine, 2, () => score(engine, request))
        t.ok(same(host.logits, cold.logits), 'cache: from the host tier')
        if (kept) {
          t.equal(host.cachedTokens, host.prefixTokens)
          t.ok(engine.stats().hostHits > before)
        }
        return cold
      })
      // If reading another state stood still for long, this one is evaluated instead.
      const wrong = await bestOfThree(() =>
        withEngine(name, options, async (engine) => {
          const loaded = await underLoad(engine, 3, () => score(engine, request))
          t.ok(same(loaded.logits, cold.logits), 'cache: what a closed engine left on disk')
          const { cachedTokens, prefixTokens } = loaded
          const { diskHits } = engine.stats()
          if (!kept) return undefined
          if (cachedTokens === prefixTokens && diskHits > 0) return undefined
          return `${cachedTokens} tokens of ${prefixTokens} were cached, ${diskHits} on disk`
        }),
      )
      t.strictSame(wrong, [])
    })
  }

  t.test(`${name}: nothing cut: every token is counted, and evaluated or cached`, (t) =>
    withEngine(
      name,
      { contextTokens: 1024, maxForks: 4, threads: 1, maxBacklogMs: 2 ** 31 },
      async (engine) => {
        const load = await startLoad(engine, { seed: 5, width: 12, same: sameAnswer(false) })
        const requests = [request, branch, more]
        const mine = await Promise.all(requests.map((r) => score(engine, r)))
        for (const [i, r] of requests.entries()) {
          const { prefix, suffixes } = await promptTokens(engine, r)
          t.equal(mine[i]!.prefixTokens, prefix)
          t.equal(mine[i]!.suffixTokens, suffixes)
        }
        const report = await load.stop()
        t.same(report.wrong, [])
        // One request more: see stats.test.ts for what is not counted without it.
        mine.push(await score(engine, alone))
        const stats = engine.stats()
        const prompt = mine.reduce((sum, o) => sum + o.prefixTokens + o.suffixTokens, 0)
        const cached = mine.reduce((sum, o) => sum + o.cachedTokens, 0)
        t.equal(stats.promptTokens, prompt + report.promptTokens)
        t.equal(
          stats.evaluatedTokens -
            stats.paddingTokens -
            stats.lostTokens +
            cached +
            report.cachedTokens,
          prompt + report.promptTokens,
        )
      },
    ),
  )
}

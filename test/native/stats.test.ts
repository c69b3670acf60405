/**
 * The counters of an engine, after requests whose costs are known.
 *
 * Needs the built addon and the fixtures.
 */
import t from 'tap'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  endless,
  endlessContext,
  type FixtureName,
  fixturePath,
  input,
  isolated,
  openEngine,
  outcomeOf,
  question,
  taken,
  unique,
  user,
  withEngine,
} from '../helpers/fixture.js'
import { relativeError } from '../helpers/reference.js'
import { until } from '../helpers/until.js'

const options = { contextTokens: 1024, threads: 1, maxBacklogMs: 2 ** 31 }
const silent = { ...question(2), candidates: new Int32Array() }

for (const name of ['small', 'hybrid'] as const) {
  t.test(`${name}: each request adds its evaluated and its cached tokens`, (t) =>
    withEngine(name, options, async (engine) => {
      const zero = engine.stats()
      t.match(zero, { answered: 0, steps: 0, evaluatedTokens: 0, promptTokens: 0 })
      t.equal(zero.deviceCells, engine.info.contextTokens)
      t.equal(zero.deviceCellsUsed, 0)
      t.equal(zero.hostBytesLimit, engine.info.hostCacheBytes)

      const first = await engine.score(unique('a', 60, 3))
      const prompt = first.prefixTokens + first.suffixTokens
      const one = engine.stats()
      t.equal(one.promptTokens, prompt)
      t.equal(one.evaluatedTokens - one.paddingTokens, prompt)
      t.equal(one.missed, 1)
      t.equal(one.devicePrefixes, 1)
      t.equal(one.deviceCellsUsed, first.prefixTokens, 'questions are gone')
      t.equal(one.deviceCellsIdle, first.prefixTokens, 'nobody needs them now')
      t.ok(one.steps >= 1 && one.busyMs > 0 && one.tokensPerSecond > 0)
      t.ok(one.capacityTokens >= one.evaluatedTokens - one.paddingTokens)

      const second = await engine.score(unique('a', 60, 1))
      const two = engine.stats()
      t.equal(second.cachedTokens, first.prefixTokens)
      t.equal(two.deviceHits, 1)
      t.equal(two.deviceCachedTokens, first.prefixTokens)
      t.equal(two.evaluatedTokens - two.paddingTokens, prompt + second.suffixTokens)

      const counted = await engine.score({ prefix: [user('a')], suffixes: [silent] })
      const three = engine.stats()
      t.equal(three.answered, 3)
      t.equal(three.evaluatedTokens, two.evaluatedTokens, 'only counted, not evaluated')
      t.equal(three.promptTokens, two.promptTokens + counted.prefixTokens + counted.suffixTokens)

      const wrong = { ...question(0), candidates: Int32Array.of(-1) }
      await t.rejects(engine.score({ prefix: [], suffixes: [wrong] }))
      const signal = AbortSignal.abort()
      await t.rejects(engine.score(input(3, 1), { signal }), { code: 'ERR_ABORTED' })
      await t.rejects(engine.score(input(3, 1), { deadlineMs: 0 }), { code: 'ERR_TIMEOUT' })
      const { answered, failed, cancelled, expired, refused, ...four } = engine.stats()
      t.same(
        { answered, failed, cancelled, expired, refused },
        // A request that is cancelled before it is sent does not count.
        { answered: 3, failed: 1, cancelled: 0, expired: 1, refused: 0 },
      )
      t.same([four.queuedRequests, four.queuedTokens, four.backlogMs], [0, 0, 0])
      t.equal(four.lostTokens, 0)
      t.equal(four.deviceHits + four.hostHits + four.diskHits + four.missed, answered)
    }),
  )
}

t.test('waiting work is counted in requests, tokens and milliseconds', (t) =>
  withEngine('small', { ...options, contextTokens: endlessContext }, async (engine) => {
    const { length } = (await engine.tokenize(endless(1).prefix))[0]!
    const leaving = new AbortController()
    const { signal } = leaving
    const pending = [1, 2, 3].map((i) => outcomeOf(engine.score(endless(i), { signal })))
    await taken(engine)
    t.equal(engine.stats().queuedRequests, 3)
    // Counted once they are tokenized, and fewer again with every step.
    const enough = () => engine.stats().steps >= 100
    await until(() => engine.stats().queuedTokens > 2 * length || enough())
    await engine.score(unique('short', 3))
    const { queuedTokens, backlogMs, queuedRequests } = engine.stats()
    t.equal(queuedRequests, 3)
    t.ok(queuedTokens > length && queuedTokens < 3.1 * length, `${queuedTokens} tokens`)
    t.ok(backlogMs > 0, `${backlogMs} ms`)
    leaving.abort()
    t.same(await Promise.all(pending), ['ERR_ABORTED', 'ERR_ABORTED', 'ERR_ABORTED'])
    t.equal(engine.stats().queuedTokens, 0)
  }),
)

// BUG: the counters are published at a step's end, before finished and lost requests are dropped.
t.test('tokens of a cancelled request are lost as soon as it has ended', (t) =>
  withEngine('small', { ...options, contextTokens: endlessContext }, async (engine) => {
    const controller = new AbortController()
    const long = outcomeOf(engine.score(endless('long', 4), { signal: controller.signal }))
    await engine.score(unique('short', 3))
    await until(() => {
      const { evaluatedTokens, paddingTokens, promptTokens } = engine.stats()
      return evaluatedTokens - paddingTokens > promptTokens // it has begun
    })
    await engine.score(unique('shorter', 2))
    controller.abort()
    t.equal(await long, 'ERR_ABORTED')
    const { lostTokens, evaluatedTokens, paddingTokens, promptTokens } = engine.stats()
    t.ok(lostTokens > 0)
    t.equal(evaluatedTokens - paddingTokens - lostTokens, promptTokens)
  }),
)

// BUG: the first pass waits for memory, and was taken for the time of a step.
t.test('the rate after opening is that of the requests', async (t) => {
  const ratio = () =>
    withEngine('small', options, async (engine) => {
      const first = engine.stats().tokensPerSecond
      for (let i = 0; i < 12; i++) await engine.score(unique(i, 40))
      return engine.stats().tokensPerSecond / first
    })
  const ratios = [await ratio(), await ratio(), await ratio()].sort((a, b) => a - b)
  t.ok(ratios[1]! < 3, `${ratios.map((r) => r.toFixed(1)).join(', ')} times as fast as predicted`)
})

t.test('idle cells are given back when no request waits', (t) =>
  withEngine('small', options, async (engine) => {
    await engine.score(unique('a', 600))
    const { deviceCellsUsed, deviceCells, devicePrefixes, hostPrefixes } = engine.stats()
    t.ok(deviceCellsUsed <= deviceCells / 4, `${deviceCellsUsed} of ${deviceCells} cells`)
    t.equal(devicePrefixes, 0)
    t.equal(hostPrefixes, 1, 'it is in the host tier')
  }),
)

t.test('hybrid: an aborted step costs other requests neither answer nor count', (t) =>
  withEngine('hybrid', { ...options, maxForks: 2, microbatchTokens: 64 }, async (engine) => {
    const asked = unique('b', 60, 10)
    const first = await engine.score(asked)
    for (let round = 0; round < 10; round++) {
      const before = engine.stats()
      const controller = new AbortController()
      const aborted = engine
        .score(unique(`a ${round}`, 400), { signal: controller.signal, workspace: 2 })
        .catch(() => undefined)
      const request = { ...asked, prefix: [...asked.prefix, user(` ${round}`)] }
      const pending = engine.score(request, { workspace: 1 })
      setTimeout(() => controller.abort(), 10 + 12 * round)
      const all = [await pending, await aborted, await engine.score(unique('last', 1))]
      const cached = all.reduce((sum, one) => sum + (one?.cachedTokens ?? 0), 0)
      const after = engine.stats()
      const useful = (s: typeof after) => s.evaluatedTokens - s.paddingTokens - s.lostTokens
      t.equal(useful(after) - useful(before) + cached, after.promptTokens - before.promptTokens)
      const again = await engine.score(request)
      t.ok(relativeError(all[0]!.logits, again.logits) < 1e-3, `round ${round}`)
    }
    t.ok(first.logits.every(Number.isFinite))
  }),
)

for (const kernels of ['off', 'auto'] as const) {
  t.test(`rows that fill a batch up are counted as padding, kernels ${kernels}`, (t) =>
    withEngine('small', { ...options, flashAttention: 'on', kernels }, async (engine) => {
      const { prefixTokens, suffixTokens } = await engine.score(unique('a', 3))
      const { evaluatedTokens, paddingTokens } = engine.stats()
      // Our own attention needs none.
      const padding = engine.info.kernels === '' ? 64 - prefixTokens - suffixTokens : 0
      t.ok(padding >= 0)
      t.equal(paddingTokens, padding)
      t.equal(evaluatedTokens, prefixTokens + suffixTokens + padding)
    }),
  )
}

// Its first step shows that it has begun; a runner's counters show that too late.
const seesSteps = { skip: isolated && 'needs the engine in this process' }
t.test(
  'a long request that gave way, and lost its cells, counts no token as cached',
  seesSteps,
  (t) =>
    withEngine('small', { ...options, hostCacheBytes: 0, microbatchTokens: 64 }, async (engine) => {
      // Whether the others come before the long request's last step is chance: repeat until they
      // do.
      for (let round = 0; round < 1000 && engine.stats().lostTokens === 0; round++) {
        const { steps } = engine.stats()
        const long = engine.score(unique(`long ${round}`, 800), { workspace: 1 })
        while (engine.stats().steps === steps) await nextTurn() // it has begun
        const shorts = Array.from({ length: 12 }, (_, i) =>
          engine.score(unique(`${round} short ${i}`, 120), { workspace: 2 }),
        )
        const all = await Promise.all([long, ...shorts])
        const wrong = all.filter(({ prefixTokens, cachedTokens }) => cachedTokens > prefixTokens)
        t.strictSame(wrong, [])
      }
      const { evaluatedTokens, paddingTokens, lostTokens, promptTokens } = engine.stats()
      t.ok(lostTokens > 0, `it was evaluated again: ${lostTokens} tokens`)
      t.ok(evaluatedTokens - paddingTokens - lostTokens <= promptTokens)
    }),
)

// BUG: for hybrids that list their layers' heads one by one, cells were estimated at 0 bytes.
t.test('the size of a context is known before it is made, for hybrids too', async (t) => {
  const options = { contextTokens: 4096, flashAttention: 'on', metadataOnly: true } as const
  const bytes = async (name: FixtureName, type?: string) => {
    const engine = await openEngine({
      ...options,
      modelPath: await fixturePath(name, type === undefined ? {} : { type }),
    })
    await engine.close()
    return engine.info.contextBytes
  }
  // Two layers with attention, two heads, 64 numbers for keys and values each, of two bytes.
  const cells = 4096 * 2 * 2 * (64 + 64) * 2
  const lfm2 = await bytes('lfm2')
  t.ok(lfm2 >= cells && lfm2 < 1.2 * cells, `lfm2: ${lfm2} bytes, of which cells ${cells}`)
  // Its gated delta nets: per sequence 4 heads of 64 * 64 numbers, and the state of its
  // convolutions.
  const hybrid = await bytes('hybrid')
  t.ok(hybrid > cells + 2 * 20 * 4 * 64 * 64 * 4, `hybrid: ${hybrid} bytes`)
  // BUG: with weights of our own kernels, llama.cpp aborted.
  t.equal(await bytes('hybrid', 'Q8_0'), hybrid)
})

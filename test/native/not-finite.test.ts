/**
 * Values that are not finite are never kept (state_cache.h, rule 6; scorer.h, rule 5).
 *
 * BUG: one row of NaN in `token_embd`, and after the first request with that token every other
 * request failed until a restart: the NaN stood in cells that attention multiplied by zero.
 */
import t from 'tap'
import { join } from 'node:path'
import { type EngineOptions } from '../../src/engine/engine.js'
import type { Engine, ScoreInput } from '../../src/engine/types.js'
import { onGpu } from '../helpers/cold.js'
import {
  type FixtureName,
  fixturePath,
  openEngine,
  outcomeOf,
  question,
  text,
  unique,
  user,
  whileOpen,
} from '../helpers/fixture.js'
import { poisoned, poisonedWord } from '../helpers/poisoned.js'
import { relativeError } from '../helpers/reference.js'

const options = { contextTokens: 1024, maxForks: 4, threads: 1, maxBacklogMs: 2 ** 31 }
const word = ' zebra'
const spoilt = (id: number | string, before = 40, behind = 40): ScoreInput => ({
  prefix: [user(`${id}: ${text(before)}`), user(word), user(` ${text(behind)}`)],
  suffixes: [question(1)],
})

const models = new Map<string, Promise<string>>()
const dir = t.testdir({})

/** The fixture with a NaN for the first token of {@link word}. */
function spoiltModel(name: FixtureName): Promise<string> {
  const made = models.get(name) ?? make(name)
  models.set(name, made)
  return made
}

const make = async (name: FixtureName) =>
  poisonedWord(await fixturePath(name), join(dir, `${name}.gguf`), word)

const withSpoilt = async <T>(
  name: FixtureName,
  more: Partial<EngineOptions>,
  use: (engine: Engine) => Promise<T>,
) => whileOpen({ ...options, ...more, modelPath: await spoiltModel(name) }, use)

for (const name of ['dense', 'hybrid', 'oss'] as const) {
  for (const [what, more] of [
    ['', {}],
    [', plain attention', { flashAttention: 'off' }],
    [", llama.cpp's kernels", { kernels: 'off' }],
    [', both', { flashAttention: 'off', kernels: 'off' }],
  ] as const) {
    t.test(`${name}${what}: the request fails, and the next ones are right`, async (t) => {
      const after = unique('after', 60, 3)
      const fresh = await withSpoilt(name, more, (engine) => engine.score(after))
      await withSpoilt(name, more, async (engine) => {
        const before = unique('before', 60)
        const { logits } = await engine.score(before)
        for (let round = 0; round < 2; round++) {
          await t.rejects(engine.score(spoilt(round)), {
            code: 'ERR_ENGINE_INTERNAL',
            message: /not finite/,
          })
          const again = await engine.score(before)
          t.ok(relativeError(again.logits, logits) < 1e-3, 'what was asked before is as it was')
        }
        await outcomeOf(engine.score(spoilt('at last')))
        t.same((await engine.score(after)).logits, fresh.logits, 'the bits of a fresh engine')
        const { answered, failed } = engine.stats()
        t.same({ answered, failed }, { answered: 4, failed: 3 })
      })
    })
  }

  t.test(`${name}: requests beside it are answered`, (t) =>
    withSpoilt(name, {}, async (engine) => {
      // Evaluated anew in company, a near tie between experts of `oss` may fall the other way.
      const scope = 'one'
      const others = Array.from({ length: 8 }, (_, i) => unique(i, 30 + 20 * i, 2))
      const expected: Float32Array[] = []
      for (const other of others) expected.push((await engine.score(other, { scope })).logits)
      const outcomes = await Promise.all(
        others.flatMap((_, i) => [
          engine.score(spoilt(`${i}`, 10 * i, 10 * i), { workspace: 9 }).then(
            () => 'answered',
            () => 'failed',
          ),
          engine
            .score(unique(i, 30 + 20 * i, 2), { workspace: i, scope })
            .then(({ logits }) => (relativeError(logits, expected[i]!) < 1e-3 ? 'right' : 'wrong')),
        ]),
      )
      t.same(
        outcomes,
        others.flatMap(() => ['failed', 'right']),
      )
    }),
  )
}

t.test('a prefix that is not finite goes to no tier, even if no request waited for it', (t) =>
  withSpoilt('dense', { contextTokens: 512, diskCacheDir: join(dir, 'states') }, async (engine) => {
    const controller = new AbortController()
    const cancelled = outcomeOf(engine.score(spoilt('gone', 5, 300), { signal: controller.signal }))
    const failed = outcomeOf(engine.score(spoilt('failed', 5, 100)))
    controller.abort()
    t.equal(await cancelled, 'ERR_ABORTED')
    t.equal(await failed, 'ERR_ENGINE_INTERNAL')
    const filling = unique('filling', 420)
    await engine.score(filling)
    t.equal(engine.stats().hostPrefixes, onGpu ? 0 : 1, 'none but the filling, where it leaves')
    t.equal((await engine.score(filling)).cachedTokens > 0, true, 'but a finite one is found')
  }),
)

t.test('a model whose numbers are never finite is refused when it is loaded', async (t) => {
  const from = await fixturePath('small')
  const path = await poisoned(from, join(dir, 'norm.gguf'), 'output_norm.weight')
  await t.rejects(openEngine({ ...options, modelPath: path }), {
    code: 'ERR_MODEL_LOAD',
    message: /not finite/,
  })
})

for (const kernels of ['auto', 'off'] as const) {
  t.test(`a reranker of a decoder, kernels ${kernels}: the next requests are right`, (t) =>
    withSpoilt('qwen3-reranker', { kernels }, async (engine) => {
      const pair = (document: string): ScoreInput => ({
        prefix: [user(document)],
        suffixes: [{ parts: [user('Is it about a card? ')], candidates: Int32Array.of(0) }],
      })
      const before = await engine.score(pair(text(30)))
      for (let round = 0; round < 2; round++) {
        await t.rejects(engine.score(pair(`${text(10)}${word} ${text(10)}`)), {
          code: 'ERR_ENGINE_INTERNAL',
          message: /not finite/,
        })
        t.same((await engine.score(pair(text(30)))).logits, before.logits)
      }
    }),
  )
}

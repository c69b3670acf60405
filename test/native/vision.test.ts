/**
 * Images in the engine: the same result as llama.cpp's own helper for the same image at the same
 * place, and caches that know an image by its content.
 *
 * Needs the built addon, oi-reference, the fixtures and their projector.
 */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EngineOptions } from '../../src/engine/engine.js'
import type { Engine, PromptPart, ScoreInput } from '../../src/engine/types.js'
import { scoreUntilKept } from '../helpers/cold.js'
import * as fixture from '../helpers/fixture.js'
import { input, openEngine, picture, question, template, text, user } from '../helpers/fixture.js'
import { referenceLogits, relativeError } from '../helpers/reference.js'

const names = ['dense', 'mrope', 'hybrid'] as const
type Name = (typeof names)[number]
const rows = 4 * 3

const withEngine = async <T>(
  name: Name,
  options: Omit<EngineOptions, 'modelPath'>,
  use: (engine: Engine) => Promise<T>,
): Promise<T> => {
  const sees = { projectorPath: await fixture.projectorPath(), maxBacklogMs: 2 ** 31 }
  return fixture.withEngine(name, { ...sees, ...options }, use)
}

const asked = (parts: readonly PromptPart[], questions = 2): ScoreInput => ({
  prefix: [template('<|im_start|>user\n'), ...parts],
  suffixes: Array.from({ length: questions }, (_, i) => question(i)),
})
const before = user(`Look: ${text(30)}\n`)
const behind = user(`\nThat was it. ${text(20)}`)

for (const name of names) {
  t.test(`${name}: text and images give the same as llama.cpp in the same order`, async (t) => {
    const path = await fixture.fixturePath(name)
    const projector = await fixture.projectorPath()
    await withEngine(name, {}, async (engine) => {
      t.equal(engine.info.vision, true)
      const orders = [
        [before, picture(1), behind],
        [picture(1), before, behind],
        [before, behind, picture(1)],
        [picture(1), picture(2), before],
        [before, picture(2, 84, 140), behind, picture(1), user('.')],
      ]
      const logits: Float32Array[] = []
      for (const [i, parts] of orders.entries()) {
        const request = asked(parts, 1)
        const output = await engine.score(request)
        const expected = await referenceLogits(path, engine, request, 'f16', projector)
        const error = relativeError(output.logits, expected)
        t.ok(error < 1e-3, `order ${i}: ${error}`)
        logits.push(output.logits)
      }
      for (const other of logits.slice(1)) {
        t.ok(relativeError(other, logits[0]!) > 1e-2, 'the order counts')
      }
    })
  })

  t.test(`${name}: an image is recognised by its content, and counted`, (t) =>
    withEngine(name, {}, async (engine) => {
      const first = await engine.score(asked([before, picture(1), behind]))
      t.equal(first.imageTokens, rows)
      t.ok(first.visionMs > 0)
      t.equal(first.cachedTokens, 0)
      const again = await engine.score(asked([before, picture(1), behind]))
      t.equal(again.cachedTokens, again.prefixTokens)
      t.equal(again.imageTokens, rows)
      t.equal(again.visionMs, 0)
      t.ok(relativeError(again.logits, first.logits) < 1e-3)

      const elsewhere = await engine.score(asked([user('Otherwise. '), picture(1), behind]))
      t.equal(elsewhere.visionMs, 0, 'encoded once, whatever stands before it')
      const other = await engine.score(asked([before, picture(2), behind]))
      t.ok(other.visionMs > 0)
      t.ok(relativeError(other.logits, first.logits) > 1e-2)
      const same = picture(1)
      same.image!.rgb[5000]! ^= 128
      const changed = await engine.score(asked([before, same, behind]))
      t.ok(changed.visionMs > 0, 'one bit makes another image')
    }),
  )

  t.test(`${name}: moving an image changes its place among the tokens, and nothing else`, (t) =>
    withEngine(name, {}, async (engine) => {
      const tokens = async (...parts: PromptPart[]) => {
        const { prefixTokens, imageTokens } = await engine.score(asked(parts, 1))
        t.equal(imageTokens, rows)
        return prefixTokens
      }
      const count = await tokens(before, picture(1), behind)
      t.equal(await tokens(picture(1), before, behind), count)
      t.equal(await tokens(before, behind, picture(1)), count)
      if (name === 'hybrid') return // its states are used as a whole

      // The cached part of one order shows the tokens with which another one begins.
      const fresh = asked([user('A'), before, picture(3), behind], 1)
      const { prefixTokens: all } = await engine.score(fresh)
      const [, a, b, c] = (await engine.tokenize(fresh.prefix)).map((ids) => ids.length)
      const head = all - rows - a! - b! - (await engine.tokenize([behind]))[0]!.length
      const begun = await engine.score(asked([user('A'), before, picture(3), user('!')], 1))
      t.equal(c, 0, 'no text in its place')
      t.ok(begun.cachedTokens >= head + a! + b! - 2 + rows, 'text, then the image')
      const moved = await engine.score(asked([user('A'), before, behind, picture(3)], 1))
      t.ok(moved.cachedTokens < head + a! + b! + rows, 'the image does not stand there')
    }),
  )

  t.test(`${name}: beside many others an answer is the same as alone`, async (t) => {
    const requests = Array.from({ length: 24 }, (_, i) =>
      asked(
        i % 4 === 3
          ? [user(`${i} ${text(40 + i)}`)]
          : i % 4 === 2
            ? [picture(i % 5), user(`${i} ${text(20)}`), picture(i % 3, 140, 56)]
            : [user(`Of ${i % 6}: ${text(30)}`), picture(i % 5), user(`${i}`)],
        1 + (i % 4),
      ),
    )
    const alone = await withEngine(name, {}, async (engine) => {
      const outputs = []
      for (const request of requests) outputs.push(await engine.score(request))
      return outputs
    })
    // Little room: prefixes leave the context and return.
    const options = { contextTokens: 512, maxForks: 4 }
    await withEngine(name, options, async (engine) => {
      for (let round = 0; round < 2; round++) {
        const together = await Promise.all(requests.map((request) => engine.score(request)))
        for (const [i, { logits, cachedTokens, prefixTokens }] of together.entries()) {
          const error = relativeError(logits, alone[i]!.logits)
          t.ok(error < 1e-3, `round ${round}, request ${i}: ${error}`)
          t.ok(cachedTokens <= prefixTokens)
        }
      }
      const { evaluatedTokens, paddingTokens, lostTokens, promptTokens } = engine.stats()
      t.ok(evaluatedTokens - paddingTokens - lostTokens <= promptTokens)
    })
  })

  t.test(`${name}: states with images return from RAM and from disk`, async (t) => {
    const diskCacheDir = join(t.testdir({}), 'states')
    const options = { contextTokens: 512, maxForks: 2, diskCacheDir }
    const state = (i: number) => asked([user(`${i}: ${text(90)}`), picture(i), behind], 1)
    const first = await withEngine(name, options, async (engine) => {
      const outputs = []
      for (const i of [1, 2, 3, 4]) outputs.push(await scoreUntilKept(engine, state(i)))
      for (const i of [1, 2, 3, 4]) {
        const again = await engine.score(state(i))
        t.equal(again.cachedTokens, again.prefixTokens)
        t.ok(relativeError(again.logits, outputs[i - 1]!.logits) < 1e-3)
      }
      t.ok(engine.stats().hostHits > 0)
      return outputs
    })
    await withEngine(name, options, async (engine) => {
      for (const i of [4, 1]) {
        const { logits } = await engine.score(state(i))
        t.ok(relativeError(logits, first[i - 1]!.logits) < 1e-3)
      }
      t.ok(engine.stats().diskHits > 0)
    })
  })

  t.test(`${name}: deterministic answers about images have the same bits`, (t) =>
    withEngine(
      name,
      { deterministic: true, microbatchTokens: 64, contextTokens: 2048 },
      async (engine) => {
        const request = asked([before, picture(1), behind, picture(2)], 3)
        const alone = await engine.score(request)
        const crowd = [1, 2, 3].map((i) => engine.score(asked([picture(i), user(text(99 * i))])))
        const among = await engine.score(request)
        await Promise.all(crowd)
        // Shares its beginning, up to the first image.
        await engine.score(asked([before, picture(1), user('else')]))
        for (const other of [among, await engine.score(request)]) {
          t.same(other.logits, alone.logits)
        }
      },
    ),
  )

  t.test(`${name}: a request with images can be cancelled at any time`, (t) =>
    withEngine(name, {}, async (engine) => {
      const alone = await engine.score(input(40, 2))
      for (let i = 0; i < 12; i++) {
        const controller = new AbortController()
        const parts = [1, 2, 3, 4].map((k) => picture(10 * i + k, 280, 280))
        const given = engine.score(asked(parts, 8), { signal: controller.signal })
        setTimeout(() => controller.abort(), 4 * i)
        const settled = await given.then(
          () => 'answered',
          (error: { code: string }) => error.code,
        )
        t.match(settled, /^(?:answered|ERR_ABORTED)$/)
      }
      t.ok(relativeError((await engine.score(input(40, 2))).logits, alone.logits) < 1e-3)
    }),
  )
}

t.test('an image larger than a batch is evaluated in several batches', async (t) => {
  const request = asked([before, picture(1, 448, 448), behind])
  const whole = await withEngine('mrope', {}, (engine) => engine.score(request))
  t.equal(whole.imageTokens, 256)
  const parts = await withEngine(
    'mrope',
    {
      batchTokens: 64,
      microbatchTokens: 64,
    },
    (engine) => engine.score(request),
  )
  t.ok(relativeError(parts.logits, whole.logits) < 1e-3)
})

t.test('an image is refused in a question, and without a projector', async (t) => {
  await withEngine('dense', {}, async (engine) => {
    const suffix = { ...question(1), parts: [picture(1), ...question(1).parts] }
    const wrong = engine.score({ prefix: [before], suffixes: [suffix] })
    await t.rejects(wrong, { code: 'ERR_INVALID_ARGUMENT' })
  })
  await fixture.withEngine('dense', {}, async (engine) => {
    t.equal(engine.info.vision, false)
    await t.rejects(engine.score(asked([picture(1)])), { code: 'ERR_INVALID_ARGUMENT' })
  })
})

t.test('more tokens than the context has are refused with both numbers', (t) =>
  withEngine('dense', { contextTokens: 256 }, (engine) =>
    t.rejects(engine.score(asked([picture(1, 560, 560)])), {
      code: 'ERR_STATE_TOO_LONG',
      message: /limit is 256/,
    }),
  ),
)

t.test('a projector that does not fit is refused with its reason', async (t) => {
  const modelPath = await fixture.fixturePath('small')
  const projectorPath = await fixture.projectorPath()
  const open = (projector: string, model = modelPath) =>
    openEngine({ modelPath: model, projectorPath: projector })
  await t.rejects(open(projectorPath), { code: 'ERR_MODEL_LOAD', message: /mismatch/ })
  await t.rejects(open('/nowhere/mmproj.gguf'), { code: 'ERR_MODEL_NOT_FOUND' })
  await t.rejects(open(modelPath), { code: 'ERR_MODEL_LOAD' })
  const damaged = join(t.testdir({}), 'damaged.gguf')
  writeFileSync(damaged, 'GGUF but no more')
  await t.rejects(open(damaged), { code: 'ERR_MODEL_LOAD' })
})

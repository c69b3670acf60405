/**
 * With `deterministic`, the same request has the same bits, whatever ran before or beside it.
 *
 * Needs the built addon and the fixtures. test/native/promises.test.ts has the same under load, and
 * of states that were asked before, or return from RAM and from disk.
 */
import t from 'tap'
import type { ScoreInput } from '../../src/engine/types.js'
import { candidates, question, text, user, withEngine } from '../helpers/fixture.js'
import { sameAnswer } from '../helpers/load.js'
import { createRandom } from '../helpers/random.js'

const width = candidates.length + 1
const same = sameAnswer(true)
// Prefixes are cut at multiples of the microbatch, so these have several parts.
const options = {
  contextTokens: 512,
  microbatchTokens: 64,
  maxForks: 4,
  threads: 1,
  maxBacklogMs: 2 ** 31,
  deterministic: true,
}
const request: ScoreInput = {
  prefix: [user(text(150))],
  suffixes: [question(4), question(0), question(3)],
}

for (const name of ['small', 'dense', 'hybrid'] as const) {
  t.test(`${name}: bits depend neither on other questions nor on the sizes of steps`, async (t) => {
    const { logits } = await withEngine(name, options, (engine) => engine.score(request))
    await withEngine(name, { ...options, maxForks: 1, batchTokens: 128 }, async (engine) => {
      const others = [question(9), question(2), ...request.suffixes.toReversed(), question(8)]
      const [mine] = await Promise.all([
        engine.score({ ...request, suffixes: others }),
        ...[1, 2, 3].map((i) => engine.score({ ...request, prefix: [user(`${i} ${text(30)}`)] })),
      ])
      for (let i = 0; i < 3; i++) {
        const got = mine.logits.slice((4 - i) * width, (5 - i) * width)
        t.ok(same(got, logits.slice(i * width, (i + 1) * width)), `question ${i} among six`)
      }
    })
  })
}

/** Random states over a common stem, so that each finds a part of another. */
function randomRequests(seed: number, count: number): ScoreInput[] {
  const random = createRandom(seed)
  const stem = text(300).split(' ')
  return Array.from({ length: count }, () => {
    const shared = stem.slice(0, 20 + random.integer(220)).join(' ')
    const own = random.integer(3) > 0 ? ` ${random.integer(5)} ${text(random.integer(80))}` : ''
    return { prefix: [user(shared + own)], suffixes: [question(random.integer(9))] }
  })
}

for (const name of ['small', 'hybrid'] as const) {
  t.test(`${name}: bits do not depend on earlier requests`, async (t) => {
    const requests = randomRequests(7, name === 'small' ? 30 : 8)
    const fresh = await withEngine(name, { ...options, hostCacheBytes: 0 }, async (engine) => {
      const answers: Float32Array[] = []
      for (const one of requests) {
        answers.push((await engine.score(one)).logits)
        // None of it is left in the context, and there is no other tier.
        await engine.score({ prefix: [user(`x ${text(1)}`)], suffixes: [question(0)] })
      }
      return answers
    })
    await withEngine(name, options, async (engine) => {
      const random = createRandom(8)
      for (let round = 0; round < (name === 'small' ? 90 : 12); round++) {
        const i = random.integer(requests.length)
        const { logits } = await engine.score(requests[i]!)
        if (!same(logits, fresh[i]!)) t.fail(`request ${i} in round ${round}`)
      }
      const { deviceCachedTokens, hostCachedTokens } = engine.stats()
      t.ok(deviceCachedTokens + hostCachedTokens > 0)
    })
  })
}

// BUG: room for the new state is sought while the whole old state is kept from eviction.
t.test('a state that shares the beginning of another may fill the context', (t) =>
  withEngine('small', options, async (engine) => {
    const suffix = question(0)
    const [tokens] = await engine.tokenize([
      { text: suffix.parts.map((p) => p.text).join(''), trusted: true },
    ])
    const old = ' a'.repeat(66) + ' b'.repeat(55)
    await engine.score({ prefix: [user(old)], suffixes: [suffix] })
    const filled = ' a'.repeat(66) + ' c'.repeat(512 - 66 - tokens!.length)
    const outcome = await engine.score({ prefix: [user(filled)], suffixes: [suffix] }).then(
      () => 'answered',
      (error: Error) => error.message,
    )
    t.equal(outcome, 'answered')
  }),
)

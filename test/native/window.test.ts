/**
 * Models with a sliding window: what is left of a state that is longer, and that it is right.
 *
 * Needs the built addon and the fixtures, whose window is 64 tokens.
 */
import t from 'tap'
import type { ScoreInput } from '../../src/engine/types.js'
import { cold, filling, options, right, state } from '../helpers/cold.js'
import { question, text, user, withEngine } from '../helpers/fixture.js'

// BUG: a part of a state that had left the sliding window was restored in full, and thrown away.
for (const name of ['window', 'oss'] as const) {
  t.test(`${name}: a state longer than the window is used as a whole or not at all`, async (t) => {
    const whole = state(text(90), ' It ended.')
    const other = state(text(90), ' It did not, as far as anybody knows.')
    const [, expected] = await cold(name, [whole, other])
    await withEngine(
      name,
      async (engine) => {
        const first = await engine.score(whole)
        await engine.score(filling)
        const branched = await engine.score(other)
        t.equal(branched.cachedTokens, 0, 'of the host tier')
        t.ok(right(branched.logits, expected!))
        t.equal(engine.stats().hostHits, 0)
        await engine.score(filling)
        const again = await engine.score(whole)
        t.equal(again.cachedTokens, again.prefixTokens)
        t.ok(right(again.logits, first.logits))
      },
      options,
    )
  })

  t.test(`${name}: a question longer than the window leaves its prefix whole`, async (t) => {
    const long = { parts: [user(` ${text(150)}?`)], candidates: question(0).candidates }
    const requests: ScoreInput[] = [
      { prefix: [user(text(100))], suffixes: [long, question(1), question(2)] },
      { prefix: [user(text(100))], suffixes: [question(3), question(4)] },
      { prefix: [user(`${text(100)}`), user(' And then?')], suffixes: [question(5), long] },
    ]
    const expected = await cold(name, requests)
    await withEngine(
      name,
      async (engine) => {
        for (let round = 0; round < 3; round++) {
          for (const [i, request] of requests.entries()) {
            const { logits } = await engine.score(request)
            t.ok(right(logits, expected[i]!), `round ${round}, request ${i}`)
          }
        }
      },
      options,
    )
  })
}

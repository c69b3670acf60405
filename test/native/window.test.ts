/**
 * Models with a sliding window: what remains of a longer state, and that it is right.
 *
 * Needs the built addon and the fixtures, whose window is 64 tokens.
 */
import t from 'tap'
import { readdirSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { ScoreInput } from '../../src/engine/types.js'
import { cold, options, right, scoreUntilKept, state } from '../helpers/cold.js'
import { question, text, user, withEngine } from '../helpers/fixture.js'

// BUG: parts of a state that had left the sliding window were read, restored, and thrown away.
for (const name of ['window', 'oss'] as const) {
  t.test(`${name}: of a state longer than the window, no part is restored`, async (t) => {
    const dir = join(t.testdir({}), 'states')
    const whole = state(text(150), ' It ended.')
    const other = state(text(150), ' It did not, as far as anybody knows.')
    const [first, expected] = await cold(name, [whole, other])
    const disk = { ...options, hostCacheBytes: 0, diskCacheDir: dir }
    await withEngine(name, disk, (engine) => scoreUntilKept(engine, whole))
    const [file] = readdirSync(dir).map((entry) => join(dir, entry)) as [string]
    const long = new Date(2001, 1, 1) // reading it sets its time
    utimesSync(file, long, long)
    await withEngine(name, disk, async (engine) => {
      const branched = await engine.score(other)
      t.equal(branched.cachedTokens, 0)
      t.ok(right(branched.logits, expected!))
      t.same(statSync(file).mtime, long, 'the file was not read')
    })
    await withEngine(name, disk, async (engine) =>
      t.ok(right((await engine.score(whole)).logits, first!), 'the whole is'),
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
    await withEngine(name, options, async (engine) => {
      for (let round = 0; round < 3; round++) {
        for (const [i, request] of requests.entries()) {
          const { logits } = await engine.score(request)
          t.ok(right(logits, expected[i]!), `round ${round}, request ${i}`)
        }
      }
    })
  })
}

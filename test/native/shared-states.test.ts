/**
 * Who shares evaluated states: a scope finds out nothing about what others have asked, neither by
 * counts nor by work, in any tier.
 *
 * Needs the built addon and the fixtures. Work is counted in evaluated tokens, which the time of an
 * answer follows.
 */
import t from 'tap'
import { join } from 'node:path'
import type { Engine, ScoreInput } from '../../src/engine/types.js'
import { fill, options, right } from '../helpers/cold.js'
import {
  picture,
  projectorPath,
  question,
  template,
  text,
  user,
  withEngine,
} from '../helpers/fixture.js'

const before = `You read a state and answer. ${text(20)}`
const about = (name: string): ScoreInput => ({
  prefix: [template(before), user(`The customer is ${name}. ${text(40)}`)],
  suffixes: [question(1)],
})
/** The 64 things that somebody may have asked. */
const candidates = Array.from({ length: 64 }, (_, i) => `number ${i} ${text(1 + (i % 5))}`)
const asked = candidates[5]!

/** What one scope is told, and the work that each of its requests took. */
async function figuresOf(engine: Engine, scope: string, names: readonly string[]) {
  const figures: (readonly number[])[] = []
  for (const name of names) {
    const work = () => engine.stats().evaluatedTokens - engine.stats().paddingTokens
    const done = work()
    const { cachedTokens, prefixTokens } = await engine.score(about(name), { scope })
    figures.push([cachedTokens, prefixTokens, work() - done])
  }
  return figures
}

for (const [name, tier, count] of [
  ['small', 'context', 64],
  ['small', 'RAM', 64],
  ['dense', 'disk', 16],
  ['hybrid', 'RAM', 8],
  ['window', 'RAM', 8],
] as const) {
  t.test(
    `${name}: of ${count} states, which one another scope has asked cannot be told by what is in ${tier}`,
    async (t) => {
      const folder = t.testdir({})
      /** What the guesser is told where the other one has asked that. */
      const trial = async (secret: string, i: number) => {
        const engineOptions = {
          ...options,
          contextTokens: 2048,
          ...(tier === 'disk' && { diskCacheDir: join(folder, `states ${i}`) }),
          ...(tier === 'context' && { hostCacheBytes: 0 }),
        }
        const ask = (engine: Engine) => engine.score(about(secret), { scope: 'other' })
        if (tier === 'disk') await withEngine(name, engineOptions, ask)
        return withEngine(name, engineOptions, async (engine) => {
          if (tier !== 'disk') await ask(engine)
          if (tier === 'RAM') for (let i = 0; i < 5; i++) await fill(engine)
          return figuresOf(engine, 'guesser', candidates.slice(0, count))
        })
      }
      // The same, whichever was asked: by no figure is a guess better than chance.
      t.strictSame(await trial(asked, 1), await trial('somebody else of whom nobody thinks', 2))
    },
  )
}

t.test('within a scope a state is shared', (t) =>
  withEngine('dense', options, async (engine) => {
    const first = await engine.score(about('Ann'), { scope: 'a' })
    const again = await engine.score(about('Ann'), { scope: 'a', workspace: 3 })
    t.same([first.cachedTokens, again.cachedTokens], [0, again.prefixTokens])
    const other = await engine.score(about('Ann'), { scope: 'b' })
    t.equal(other.cachedTokens, 0)
    t.ok(right(other.logits, again.logits))
  }),
)

t.test('the scope is the workspace unless it is given', (t) =>
  withEngine('dense', options, async (engine) => {
    await engine.score(about('Ann'), { workspace: 1 })
    t.equal((await engine.score(about('Ann'), { workspace: 2 })).cachedTokens, 0)
    t.ok((await engine.score(about('Ann'), { workspace: 1 })).cachedTokens > 0)
    await t.rejects(engine.score(about('Ann'), { scope: 'a'.repeat(257) }), {
      code: 'ERR_INVALID_ARGUMENT',
      message: /scope/,
    })
  }),
)

t.test(
  'the template before the first text is evaluated once for all, and counts for nobody else',
  (t) =>
    withEngine('dense', { ...options, contextTokens: 2048 }, async (engine) => {
      const [[, , first]] = (await figuresOf(engine, 'a', ['Ann'])) as [number[]]
      const [[cached, , second]] = (await figuresOf(engine, 'b', ['Bob'])) as [number[]]
      const [own] = await engine.tokenize([template(before)])
      t.equal(cached, 0)
      t.ok(first! - second! >= own!.length, `${first! - second!} of ${own!.length} tokens less`)
      const [[known]] = (await figuresOf(engine, 'b', ['Cid'])) as [number[]]
      t.ok(known! >= own!.length, 'what the scope has had itself counts')
    }),
)

t.test('an image that another scope has shown is encoded anew', async (t) =>
  withEngine(
    'dense',
    { ...options, contextTokens: 1024, projectorPath: await projectorPath() },
    async (engine) => {
      const shown = (words: string): ScoreInput => ({
        prefix: [user(words), picture(5), user(' What is it?')],
        suffixes: [question(1)],
      })
      const encoded = async (words: string, scope: string) =>
        (await engine.score(shown(words), { scope })).visionMs > 0
      t.ok(await encoded('Look: ', 'a'))
      t.notOk(await encoded('Look here: ', 'a'))
      t.ok(await encoded('Look: ', 'b'))
    },
  ),
)

/**
 * Two replicas of one model, each in its own process on one thread, against one engine: the same
 * share of the work is cached.
 *
 * Needs the built addon and the small fixture.
 */
import t from 'tap'
import { openEngine } from '../../src/engine/engine.js'
import type { Engine, ScoreInput } from '../../src/engine/types.js'
import { openIsolated } from '../../src/runner/isolate.js'
import { openReplicas } from '../../src/runner/open-replicas.js'
import { candidates, fixturePath, unique, user } from '../helpers/fixture.js'
import { sameAnswer } from '../helpers/load.js'

const options = { modelPath: await fixturePath('small'), threads: 1, contextTokens: 4096 }
const [states, rounds, clients] = [20, 30, 8]

/** A request about a state, each time with another question of the same length. */
const asked = (i: number): ScoreInput => ({
  ...unique(i % states, 60 + (i % states)),
  suffixes: [{ parts: [user(` Is it ${100 + Math.floor(i / states)}?`)], candidates }],
})

interface Served {
  /** Share of the tokens of all prefixes. */
  readonly cachedShare: number
  readonly logits: readonly Float32Array[]
}

/** States in turn, each `rounds` times. */
async function serve(engine: Engine): Promise<Served> {
  let [next, prefix, cached] = [0, 0, 0]
  const logits: Float32Array[] = []
  const client = async () => {
    while (next < states * rounds) {
      const i = next++
      const output = await engine.score(asked(i))
      prefix += output.prefixTokens
      cached += output.cachedTokens
      logits[i] = output.logits
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return { cachedShare: cached / prefix, logits }
}

t.test('states stay with their replica, which caches and answers as one engine does', async (t) => {
  const one = await openEngine(options)
  const alone = await serve(one)
  await one.close()

  /** For each replica, its number of requests about each state. */
  const given: Map<string, number>[] = []
  const engine = await openReplicas(['cpu', 'cpu'], options, async (each) => {
    const replica = await openIsolated(each)
    const score = replica.score.bind(replica)
    const counts = new Map<string, number>()
    given.push(counts)
    replica.score = (...args) => {
      const { text } = args[0].prefix[0]!
      counts.set(text, (counts.get(text) ?? 0) + 1)
      return score(...args)
    }
    return replica
  })
  t.teardown(() => engine.close())
  const both = await serve(engine)
  t.comment(`cached: ${alone.cachedShare.toFixed(3)} alone, ${both.cachedShare.toFixed(3)} of two`)
  t.ok(both.cachedShare > 0.95 * alone.cachedShare, `${both.cachedShare} of ${alone.cachedShare}`)
  // At random it would be .57.
  let stayed = 0
  for (let i = 0; i < states; i++) {
    stayed += Math.max(...given.map((counts) => counts.get(asked(i).prefix[0]!.text) ?? 0))
  }
  const share = stayed / (states * rounds)
  t.ok(share > 0.65, `${share.toFixed(2)} went where most of their state went`)
  const same = sameAnswer(one.info.sameBits)
  t.ok(
    both.logits.every((logits, i) => same(logits, alone.logits[i]!)),
    'the answers are those of one engine',
  )
})

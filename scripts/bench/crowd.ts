/**
 * A new request beside many cached states: the cache must not slow down new states.
 *
 * In this process, because HTTP adds nothing to it. The empty cache is an engine opened for each
 * round and warmed up with one short request; the crowded one stays open, and keeps its first
 * states.
 *
 * @module
 */

import { type EngineOptions, openEngine } from '../../src/engine/engine.js'
import type { Engine, ScoreInput } from '../../src/engine/types.js'
import { type Bench, measure } from './bench.js'
import { timed } from './engine-load.js'
import { Figures } from './figure.js'
import type { Requests } from './requests.js'

const crowdSize = { stateTokens: 250, questions: 1, questionTokens: 40 }
const warmUpSize = { stateTokens: 60, questions: 1, questionTokens: 40 }
const states = 32

export const crowdName = `new request, ${states} other states in the cache`

export async function crowd(
  bench: Bench,
  requests: Requests,
  options: EngineOptions,
): Promise<Figures> {
  const crowded = await openEngine(options)
  // Free memory decides the size of the context, and the second engine has less of it.
  const { contextTokens } = crowded.info
  let empty: Engine | undefined
  try {
    const others: ScoreInput[] = []
    for (let i = 0; i < states; i++) others.push(requests.input(await requests.make(crowdSize)))
    for (const input of others) await crowded.score(input)
    // Each gets its own text: the engines must find nothing but the template in their caches.
    let [forEmpty, forCrowded] = [others[0]!, others[0]!]
    const rounds = await measure(
      bench,
      [
        { name: 'empty cache', run: async () => ({ empty: (await timed(empty!, forEmpty)).ms }) },
        {
          name: 'crowded cache',
          run: async () => ({ crowded: (await timed(crowded, forCrowded)).ms }),
        },
      ],
      async () => {
        await empty?.close()
        empty = await openEngine({ ...options, contextTokens })
        await timed(empty, requests.input(await requests.make(warmUpSize)))
        forEmpty = requests.input(await requests.make(bench.options))
        forCrowded = requests.input(await requests.make(bench.options))
      },
    )
    const figures = new Figures('engine', rounds)
    figures.addValues(`${crowdName}: time`, 'ms', figures.values('crowded'))
    figures.addValues(`${crowdName}: time with an empty cache`, 'ms', figures.values('empty'))
    figures.addRatio(`${crowdName}: speed / empty cache`, 'empty', 'crowded', { atLeast: 0.95 })
    const found = await countKept(crowded, others)
    figures.addValues(`${crowdName}: states found again`, 'states', [found], { atLeast: states })
    return figures
  } finally {
    await crowded.close()
    await empty?.close()
  }
}

/** Without this check the speed would mean nothing: a cache that forgets is never crowded. */
async function countKept(engine: Engine, inputs: readonly ScoreInput[]): Promise<number> {
  let kept = 0
  for (const input of inputs) {
    const { cachedTokens, prefixTokens } = (await timed(engine, input)).output
    if (cachedTokens === prefixTokens) kept++
  }
  return kept
}

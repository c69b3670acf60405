/**
 * The cost of bit-identical answers: the same requests from the same number of clients, on an
 * engine with `deterministic` and on one without.
 *
 * @module
 */

import { type EngineOptions, openEngine } from '../../src/engine/engine.js'
import type { Engine, ScoreInput } from '../../src/engine/types.js'
import { type Bench, measure } from './bench.js'
import { peakRate } from './engine-load.js'
import { Figures } from './figure.js'
import type { Requests } from './requests.js'

export const deterministicName = 'deterministic'

const clients = 4
/** States of one measurement: each is asked about twice. */
const states = 3

export async function deterministic(
  bench: Bench,
  requests: Requests,
  options: EngineOptions,
): Promise<Figures> {
  const usual = await openEngine(options)
  let bound: Engine | undefined
  try {
    // Free memory decides the size of the context, and the second engine has less of it.
    const { contextTokens } = usual.info
    bound = await openEngine({ ...options, contextTokens, deterministic: true })
    let inputs: ScoreInput[] = []
    const opened = bound
    const subjects = [
      { name: 'engine', run: async () => ({ usual: await peakRate(usual, clients, inputs) }) },
      {
        name: 'deterministic engine',
        run: async () => ({ bound: await peakRate(opened, clients, inputs) }),
      },
    ]
    const rounds = await measure(bench, subjects, async () => {
      const pairs = await requests.pairs(states, bench.options)
      inputs = pairs.map((request) => requests.input(request))
    })
    const figures = new Figures('engine', rounds)
    figures.addValues('requests, any bits', 'requests/s', figures.values('usual'))
    figures.addValues(`requests, ${deterministicName}`, 'requests/s', figures.values('bound'))
    figures.addRatio(`${deterministicName} / any bits`, 'bound', 'usual')
    return figures
  } finally {
    await bound?.close()
    await usual.close()
  }
}

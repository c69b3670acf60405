/**
 * What answers that are the same to the last bit cost: the same requests from as many clients, on
 * an engine that promises it and on one that does not.
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
/** Of one measurement: each is asked about twice. */
const states = 3

export async function deterministic(
  bench: Bench,
  requests: Requests,
  options: EngineOptions,
): Promise<Figures> {
  const usual = await openEngine(options)
  let bound: Engine | undefined
  try {
    // Free memory decides about the context, and there is less of it for the second.
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

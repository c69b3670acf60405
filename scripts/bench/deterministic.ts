/**
 * The cost of bit-identical answers: the same requests from the same number of clients, on an
 * engine with `deterministic` and on one without.
 *
 * @module
 */

import type { EngineOptions } from '../../src/engine/engine.js'
import type { ScoreInput } from '../../src/engine/types.js'
import { type Bench, measure } from './bench.js'
import { peakRate, withEngine } from './engine-load.js'
import { Figures } from './figure.js'
import type { Requests } from './requests.js'

export const deterministicName = 'deterministic'

const clients = 4
/** States of one measurement: each is asked about twice. */
const states = 3

export function deterministic(
  bench: Bench,
  requests: Requests,
  options: EngineOptions,
): Promise<Figures> {
  return withEngine(options, (usual) => {
    // Free memory decides the size of the context, and the second engine has less of it.
    const { contextTokens } = usual.info
    return withEngine({ ...options, contextTokens, deterministic: true }, async (bound) => {
      let inputs: ScoreInput[] = []
      const subjects = [
        { name: 'engine', run: async () => ({ usual: await peakRate(usual, clients, inputs) }) },
        {
          name: 'deterministic engine',
          run: async () => ({ bound: await peakRate(bound, clients, inputs) }),
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
    })
  })
}

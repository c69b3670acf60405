/**
 * What answers that are the same to the last bit cost: the same requests from as many clients, on
 * an engine that promises it and on one that does not.
 *
 * @module
 */

import { type EngineOptions, openEngine } from '../../src/engine/engine.js'
import type { Engine, ScoreInput } from '../../src/engine/types.js'
import { type Bench, measure } from './bench.js'
import { closedEngineLoop, elapsedMs } from './engine-load.js'
import { Figures } from './figure.js'
import { eachOf } from './load.js'
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
    const rate = (engine: Engine) => async () => {
      const ms = await elapsedMs(() => closedEngineLoop(engine, clients, eachOf(inputs)))
      return { [engine === usual ? 'usual' : 'bound']: (inputs.length / ms) * 1000 }
    }
    const subjects = [
      { name: 'engine', run: rate(usual) },
      { name: 'deterministic engine', run: rate(bound) },
    ]
    const rounds = await measure(bench, subjects, async () => {
      inputs = []
      for (let i = 0; i < states; i++) {
        const request = await requests.make(bench.options)
        const again = await requests.again(request, bench.options)
        inputs.push(requests.input(request), requests.input(again))
      }
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

/**
 * What llama.cpp reaches by itself.
 *
 * @module
 */

import { openEngine } from '../../../src/engine/engine.js'
import { type Bench, measure } from '../bench.js'
import { Figures, type Figure } from '../figure.js'
import { ceilings, llamaBench } from '../llama-bench.js'

export async function ceiling(bench: Bench): Promise<readonly Figure[]> {
  const rounds = await measure(bench, [await llamaBench(bench, await threadsOf(bench))])
  const figures = new Figures('ceiling', rounds)
  for (const name of [...ceilings.state, ...ceilings.questions]) figures.add(name, 'tokens/s')
  return figures.all
}

/** As many as the engine would take. */
async function threadsOf(bench: Bench): Promise<number> {
  const engine = await openEngine({
    modelPath: await bench.model(),
    threads: bench.options.threads,
    metadataOnly: true,
  })
  await engine.close()
  return engine.info.threads
}

/**
 * What llama.cpp reaches by itself.
 *
 * @module
 */

import { type Bench, measure } from '../bench.js'
import { Figures, type Figure } from '../figure.js'
import { ceilings, llamaBench } from '../llama-bench.js'

export async function ceiling(bench: Bench): Promise<readonly Figure[]> {
  const rounds = await measure(bench, [await llamaBench(bench)])
  const figures = new Figures('ceiling', rounds)
  for (const name of [...ceilings.state, ...ceilings.questions]) figures.add(name, 'tokens/s')
  return figures.all
}

/**
 * The speed of llama.cpp alone.
 *
 * @module
 */

import { type Bench, measure } from '../bench.js'
import { Figures } from '../figure.js'
import { ceilings, llamaBench } from '../llama-bench.js'

export async function ceiling(bench: Bench): Promise<void> {
  const rounds = await measure(bench, [await llamaBench(bench)])
  const figures = new Figures('ceiling', rounds)
  for (const name of [...ceilings.state, ...ceilings.questions]) figures.add(name, 'tokens/s')
  bench.record(figures.all, await bench.model())
}

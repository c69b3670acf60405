/**
 * `npm run stress:runner -- [--operations N] [--seed N] [--model NAME] [--between N]`
 *
 * Exits with 1 if anything was wrong.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { ensureModel } from '../make-model/ensure.js'
import { stressRunner } from './stress.js'

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    model: { type: 'string', default: 'fixture-small' },
    between: { type: 'string', default: '1000' },
  },
})
const startMs = performance.now()
const { wrong, ends, ...counts } = await stressRunner({
  model: await ensureModel(values.model),
  operations: Number(values.operations),
  seed: Number(values.seed),
  between: Number(values.between),
  onProgress: (operations) => {
    if (operations % 10_000 === 0) console.error(`${operations} operations`)
  },
})
const named = Object.entries({ ...counts, ...ends }).map(([name, count]) => `${name} ${count}`)
const seconds = Math.round((performance.now() - startMs) / 1000)
console.log(`${values.operations} operations in ${seconds} s: ${named.join(', ')}`)
for (const what of new Set(wrong)) {
  console.log(`wrong, ${wrong.filter((each) => each === what).length} times: ${what}`)
}
process.exitCode = wrong.length === 0 ? 0 : 1

/**
 * `npm run stress:runner -- [--operations N] [--seed N] [--model NAME] [--between N] [--sanitize]`
 *
 * With `--sanitize` both processes use the addon under AddressSanitizer. Exits with 1 if anything
 * was wrong.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { buildSanitizedAddon } from '../build/sanitize.js'
import { ensureModel } from '../make-model/ensure.js'
import { stressRunner } from './stress.js'

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    model: { type: 'string', default: 'fixture-small' },
    between: { type: 'string', default: '1000' },
    sanitize: { type: 'boolean', default: false },
  },
})
if (values.sanitize) {
  // The sanitizers' runtime must be loaded at the start of a process.
  const env = { ...process.env, ...(await buildSanitizedAddon()) }
  const args = process.argv.slice(1).filter((arg) => arg !== '--sanitize')
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env })
  process.exit(status ?? 1)
}
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

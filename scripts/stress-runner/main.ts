/**
 * `npm run stress:runner`: random operations on an engine behind a process boundary.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { buildSanitizedAddon } from '../build/sanitize.js'
import { runCommand } from '../command.js'
import { ensureModel } from '../make-model/ensure.js'
import { stressRunner } from './stress.js'

const usage = `Usage: npm run stress:runner -- [options]

  --operations N   operations (default 100,000)
  --seed N         seed of the operations (default 1)
  --model NAME     a model of npm run make-model (default fixture-small)
  --between N      operations between two ends of the runner (default 1,000)
  --sanitize       both processes use the addon under AddressSanitizer

Exit codes: 0 nothing was wrong, 1 something was, 2 wrong usage.`

await runCommand(usage, main)

async function main(): Promise<number> {
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
    return status ?? 1
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
  return wrong.length === 0 ? 0 : 1
}

/**
 * `npm run fuzz:models`: mutates the header of a model; no mutation may end more than a probe.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand } from '../command.js'
import { ensureModel } from '../make-model/ensure.js'
import { fuzzModels } from './fuzz.js'

const usage = `Usage: npm run fuzz:models -- [options]

  --mutations N   mutations (default 6,000)
  --seed N        seed of the mutations (default 1)
  --model NAME    a model of npm run make-model (default fixture-small)
  --minutes N     ends after this time (default 60)

Exit codes: 0 no mutation ended more than a probe, 1 one did, 2 wrong usage.`

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      mutations: { type: 'string', default: '6000' },
      seed: { type: 'string', default: '1' },
      model: { type: 'string', default: 'fixture-small' },
      minutes: { type: 'string', default: '60' },
    },
  })
  const dir = mkdtempSync(join(tmpdir(), 'oi-fuzz-models-'))
  try {
    let opening = ''
    process.on('exit', (code) => code !== 0 && console.error(opening))
    const result = await fuzzModels({
      model: await ensureModel(values.model),
      scratch: join(dir, 'model.gguf'),
      seed: Number(values.seed),
      mutations: Number(values.mutations),
      budgetMs: Number(values.minutes) * 60_000,
      onOpen: (mutation) => (opening = mutation),
    })
    const { loaded, refused, aborted, wrong } = result
    console.log(`loaded ${loaded}, refused ${refused}, ended a probe ${aborted}`)
    for (const line of wrong) console.log(`loaded by the probe alone: ${line}`)
    return wrong.length === 0 ? 0 : 1
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

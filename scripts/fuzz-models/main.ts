/**
 * `npm run fuzz:models -- [--mutations N] [--seed N] [--model NAME] [--minutes N]`
 *
 * Mutates the header of a fixture, and exits with 1 if a mutation ended more than a probe.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureModel } from '../make-model/ensure.js'
import { fuzzModels } from './fuzz.js'

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
  process.exitCode = wrong.length === 0 ? 0 : 1
} finally {
  rmSync(dir, { recursive: true, force: true })
}

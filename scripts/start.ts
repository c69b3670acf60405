/**
 * `npm start -- [flags of oi serve]`: makes what is missing, then serves.
 *
 * The addon is built unless `OI_ADDON` names one, the default model made unless another is
 * named. What is there already is found by its hash in a few milliseconds.
 *
 * @module
 */

import { buildNative } from './build/native.js'
import { BuildError } from './build/run.js'
import { ensureDefaultModel } from './default-model.js'

const flags = process.argv.slice(2)
const namesModel =
  Boolean(process.env['OI_MODEL']) || flags.some((flag) => /^--model(=|$)/.test(flag))

try {
  if (!process.env['OI_ADDON']) await buildNative(new Set())
  if (!namesModel) await ensureDefaultModel()
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error)
  process.exit(1)
}

process.argv.splice(2, Infinity, 'serve', ...flags)
await import('../src/cli/main.js')

/**
 * `npm start -- [flags of oi serve]`: builds the addon, unless it exists or `OI_ADDON` names one,
 * and the console, then serves.
 *
 * @module
 */

import { buildConsole } from './build/console.js'
import { buildNative } from './build/native.js'
import { BuildError } from './build/run.js'

const flags = process.argv.slice(2)

try {
  if (!process.env['OI_ADDON']) await buildNative(new Set())
  await buildConsole()
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error)
  process.exit(error instanceof BuildError ? error.exitCode : 1)
}

process.argv.splice(2, Infinity, 'serve', ...flags)
await import('../src/cli/main.js')

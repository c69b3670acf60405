/**
 * `npm run build -- [--cuda|--vulkan|--metal|--hip] [--portable] [--sanitize] [--clean]`
 *
 * @module
 */

import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { buildDir, buildNative, switches, type Switch } from './native.js'
import { BuildError } from './run.js'

try {
  const names = Object.keys(switches) as Switch[]
  const { values } = parseArgs({
    options: Object.fromEntries(
      [...names, 'clean'].map((name) => [name, { type: 'boolean' as const }]),
    ),
  })
  const enabled = new Set(names.filter((name) => values[name]))
  if (values['clean']) rmSync(buildDir(enabled), { recursive: true, force: true })
  await buildNative(enabled)
} catch (error) {
  const expected =
    error instanceof BuildError ||
    (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')
  console.error(expected ? (error as Error).message : error)
  process.exitCode = error instanceof BuildError ? error.exitCode : 1
}

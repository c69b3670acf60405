/**
 * `node dist/scripts/train/check/states.js MODEL < passes`: the hidden states of all tokens, as
 * the server computes them; of an encoder without pooling. Each line has the ids of a pass' tokens,
 * separated by blanks, and each line of the output its states, one token behind the other.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildNative } from '../../build/native.js'
import { runCommand, UsageError } from '../../command.js'

await runCommand('Usage: states MODEL < passes', main)

async function main(): Promise<number> {
  const { positionals } = parseArgs({ allowPositionals: true, options: {} })
  const [model, ...rest] = positionals
  if (model === undefined || rest.length > 0) throw new UsageError('Give one model.')
  const folder = await buildNative(new Set(), ['oi-pooled'])
  const { status } = spawnSync(join(folder, 'oi-pooled'), ['--kernels', model], {
    stdio: 'inherit',
  })
  return status ?? 1
}

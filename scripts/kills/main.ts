/**
 * `npm run kills -- --times N`: kills the process of a model under load, again and again.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from '../command.js'
import { run } from './run.js'

const usage = `Usage: npm run kills -- [options]

  --times N    number of kills (default 50)
  --clients N  concurrent clients of both models together (default 32)
  --seed N     seed of the times of the kills (default 1)
  --port N     port of the server (default 18092)

Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage.`

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      times: { type: 'string', default: '50' },
      clients: { type: 'string', default: '32' },
      seed: { type: 'string', default: '1' },
      port: { type: 'string', default: '18092' },
    },
  })
  const folder = mkdtempSync(join(tmpdir(), 'oi-kills-'))
  try {
    const { lines, violations } = await run({
      folder,
      times: whole('times', values.times),
      clients: whole('clients', values.clients),
      seed: whole('seed', values.seed),
      port: whole('port', values.port),
    })
    console.log([...lines, `${violations.length} violations`, ...violations].join('\n'))
    return violations.length > 0 ? 1 : 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new UsageError(`--${name}: expected a whole number above 0, got "${text}"`)
}

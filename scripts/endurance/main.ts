/**
 * `npm run endurance -- --minutes N`: disturbs the whole server all the time, and then audits its
 * ledger.
 *
 * The disk fills and empties, locks are held, the log's reader leaves, the clock jumps, clients
 * trickle, leave, half-close and send wrong keys, and every few minutes the server restarts on the
 * same data folder. At the end nothing may be lost, nothing charged twice or without an answer, no
 * process may have ended unasked, and memory must be flat.
 *
 * Linux, with the right to mount (root), and Debian's libfaketime.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from '../command.js'
import { run } from './run.js'

const usage = `Usage: npm run endurance -- [options]

  --minutes N          length of the run (default 60)
  --restart-minutes N  minutes between two restarts of the server (default 5)
  --seed N             seed of the order of faults (default 1)
  --port N             port of the server (default 18080)

Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage.`

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '60' },
      'restart-minutes': { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      port: { type: 'string', default: '18080' },
    },
  })
  const folder = mkdtempSync(join(tmpdir(), 'oi-endurance-'))
  try {
    const violations = await run({
      folder,
      minutes: positive('minutes', values.minutes),
      restartMinutes: positive('restart-minutes', values['restart-minutes']),
      seed: positive('seed', values.seed),
      port: positive('port', values.port),
    })
    return violations > 0 ? 1 : 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (value > 0 && Number.isFinite(value)) return value
  throw new UsageError(`--${name}: expected a number above 0, got "${text}"`)
}

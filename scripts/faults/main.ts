/**
 * `npm run faults`: a real server under load and faults of chosen kinds; at the end nothing may be
 * lost, nothing charged twice or without an answer, no answer different, no process left or ended
 * unasked, and memory must be flat.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildSanitizedAddon, sanitizedSlowness } from '../build/sanitize.js'
import { runCommand, UsageError, wholeNumber } from '../command.js'
import { kinds } from './kinds.js'
import { run } from './run.js'

const names = Object.keys(kinds)
const usage = `Usage: npm run faults -- [options]

  --with KINDS     kinds of faults, with commas between; all by default, none for load alone:
${names.map((name) => `                     ${name.padEnd(9)} ${kinds[name]!.says}`).join('\n')}
  --without KINDS  all but these
  --minutes N      length of the run (default 60)
  --seed N         seed of requests and faults (default 1)
  --port N         port of the server (default 18080)
  --sanitize       the server uses the addon under AddressSanitizer

Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage.`

await runCommand(usage, main)
// Node has been seen to wait for a handle at its own end, spinning, for ever.
process.exit()

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      with: { type: 'string', default: names.join() },
      without: { type: 'string', default: '' },
      minutes: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      port: { type: 'string', default: '18080' },
      sanitize: { type: 'boolean', default: false },
    },
  })
  const without = list('without', values.without)
  const chosen = list('with', values.with).filter((name) => !without.includes(name))
  for (const name of chosen) {
    const lacking = kinds[name]!.lacks?.()
    if (lacking !== undefined) throw new UsageError(`${name} needs what is not here: ${lacking}`)
  }
  const folder = mkdtempSync(join(tmpdir(), 'oi-faults-'))
  try {
    const { violations } = await run({
      folder,
      kinds: chosen,
      minutes: wholeNumber('minutes', values.minutes, 1),
      seed: wholeNumber('seed', values.seed, 1),
      port: wholeNumber('port', values.port, 1),
      environment: values.sanitize ? await buildSanitizedAddon() : {},
      slowness: values.sanitize ? sanitizedSlowness : 1,
      say: (lines) => console.log(`${new Date().toISOString()}\n  ${lines.join('\n  ')}`),
    })
    return violations.length > 0 ? 1 : 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function list(option: string, text: string): string[] {
  const chosen = text.split(',').filter((name) => name !== '' && name !== 'none')
  const unknown = chosen.find((name) => !names.includes(name))
  if (unknown === undefined) return chosen
  throw new UsageError(`--${option}: expected some of ${names.join(', ')}, got "${unknown}"`)
}

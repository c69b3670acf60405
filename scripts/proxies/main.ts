/**
 * `npm run proxies -- --requests N`: many requests through nginx and through HAProxy with default
 * settings. Only statuses of the contract may occur, and the ledger must equal the usage of the
 * answers.
 *
 * Needs Debian's packages nginx-light and haproxy.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from '../command.js'
import { plain } from './proxy.js'
import { run } from './run.js'

const usage = `Usage: npm run proxies -- [options]

  --requests N     requests through each proxy (default 100,000)
  --clients N      concurrent clients (default 24)
  --proxy NAME     only this one: nginx or haproxy
  --seed N         seed of the requests (default 1)

Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage.`

const names = Object.keys(plain) as (keyof typeof plain)[]

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '100000' },
      clients: { type: 'string', default: '24' },
      proxy: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  })
  const chosen = names.filter((name) => values.proxy === undefined || values.proxy === name)
  if (chosen.length === 0) throw new UsageError(`--proxy: expected ${names.join(' or ')}`)
  let violations = 0
  for (const proxy of chosen) {
    const folder = mkdtempSync(join(tmpdir(), `oi-${proxy}-`))
    try {
      violations += await run({
        ...{ proxy, folder },
        requests: whole('requests', values.requests),
        clients: whole('clients', values.clients),
        seed: whole('seed', values.seed),
      })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return violations > 0 ? 1 : 0
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new UsageError(`--${name}: expected a whole number above 0, got "${text}"`)
}

/**
 * `npm run conformance -- --url URL --key KEY`: checks a running server against every rule of the
 * interface, from outside.
 *
 * @module
 */

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { runCommand, UsageError } from '../command.js'
import { Client } from './client.js'
import { Context } from './context.js'
import { countsOf, tableOf } from './report.js'
import { runRules } from './rule.js'
import { rules } from './rules.js'

const usage = `Usage: npm run conformance -- --url URL --key KEY [options]

  --url URL           the server, without /v1
  --key KEY           one of its keys (default OI_KEY)
  --json FILE         writes the results to a file
  --only TEXT         only rules whose section and name contain TEXT
  --revoked-key KEY   a key that was revoked
  --limited-key KEY   a key of a workspace of at most 1,000 requests per minute, which it uses up
  --empty-key KEY     a key of a workspace without balance
  --narrow-key KEY    a key of a workspace with fewer concurrent requests than a batch has items
  --origin ORIGIN     an origin that the server allows (--cors-origins)

Exit codes: 0 all rules hold, 1 one does not, 2 wrong usage.`

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      key: { type: 'string', default: process.env['OI_KEY'] ?? '' },
      json: { type: 'string' },
      only: { type: 'string', default: '' },
      'revoked-key': { type: 'string' },
      'limited-key': { type: 'string' },
      'empty-key': { type: 'string' },
      'narrow-key': { type: 'string' },
      origin: { type: 'string' },
    },
  })
  const { url, key, only, json } = values
  if (url === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError('--url: expected the address of a server, as http://127.0.0.1:8080')
  }
  if (key === '') throw new UsageError('--key: expected a key of the server')
  const chosen = rules.filter(({ section, name }) => `${section} ${name}`.includes(only))
  if (chosen.length === 0) throw new UsageError(`--only: no rule contains "${only}"`)

  const client = new Client(url)
  try {
    const context = new Context(client, {
      key,
      revoked: values['revoked-key'],
      limited: values['limited-key'],
      empty: values['empty-key'],
      narrow: values['narrow-key'],
      origin: values.origin,
    })
    // With a real model this takes a while: each result is shown as soon as it is known.
    const results = await runRules(chosen, context, ({ rule, outcome }) => {
      if (process.stderr.isTTY) console.error(`${outcome.padEnd(7)} ${rule}`)
    })
    console.log(tableOf(results))
    console.log(countsOf(results))
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`)
    return results.some(({ outcome }) => outcome === 'FAIL') ? 1 : 0
  } finally {
    client.close()
  }
}

/**
 * `npm run settings`, `npm run labels` and `npm run bench:table`: tables of guides, from what they
 * are about.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { runCommand, UsageError } from '../command.js'
import { putInGuide } from '../markdown.js'
import { tables } from './tables.js'

const usage = `Usage: npm run settings
       npm run bench:table
       npm run labels [-- --write]

  --write   writes the table into its guide, as the others always do, instead of printing it

Exit codes: 0 it is made, 1 it cannot be made, 2 wrong usage.`

await runCommand(usage, async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { write: { type: 'boolean' } },
  })
  const [, table] = Object.entries(tables).find(([name]) => name === positionals.join()) ?? []
  if (table === undefined) throw new UsageError(`Name one of ${Object.keys(tables).join(', ')}.`)
  const text = await table.make()
  if (values.write) putInGuide(table, text)
  else console.log(text)
  return 0
})

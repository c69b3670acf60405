/**
 * `npm run labels`: how a question of 255 options is asked with each vendored vocabulary.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../build/paths.js'
import { runCommand } from '../command.js'
import { replaceBetween } from '../markdown.js'
import { rowOf, vocabularies, type Row } from './rows.js'
import { guidePath, marks, tableOf } from './table.js'

const usage = `Usage: npm run labels [-- --write]

  --write   writes the table into src/prompt/README.md instead of printing it

Exit codes: 0 every vocabulary can be asked, 1 one cannot, 2 wrong usage.`

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { write: { type: 'boolean' } },
  })
  const rows: Row[] = []
  for (const vocabulary of await vocabularies()) {
    rows.push(await rowOf(vocabulary))
    console.error(`${vocabulary}: checked`)
  }
  const table = tableOf(rows)
  if (values.write) {
    const path = join(root, guidePath)
    writeFileSync(path, replaceBetween(readFileSync(path, 'utf8'), marks, table))
  } else {
    console.log(table)
  }
  return 0
}

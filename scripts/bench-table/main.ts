/**
 * `npm run bench:table`: puts the table of results into the benchmarks' guide.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { runCommand } from '../command.js'
import { replaceBetween } from '../markdown.js'
import { benchTable, guidePath, marks } from './table.js'

await runCommand('Usage: npm run bench:table', async () => {
  const path = join(root, guidePath)
  writeFileSync(path, replaceBetween(readFileSync(path, 'utf8'), marks, benchTable()))
  return 0
})

/**
 * `npm run settings`: puts the table of all settings into their guide.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { runCommand } from '../command.js'
import { replaceBetween } from '../markdown.js'
import { guidePath, marks, settingsTable } from './table.js'

await runCommand('Usage: npm run settings', async () => {
  const path = join(root, guidePath)
  writeFileSync(path, replaceBetween(readFileSync(path, 'utf8'), marks, settingsTable()))
  return 0
})

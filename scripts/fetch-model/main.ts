/**
 * `npm run fetch-model -- NAME`: fetches a real decoder and prints its path.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { runCommand, UsageError } from '../command.js'
import { ensureRealModel, isRealModel, realModels } from './real-models.js'

const names = Object.entries(realModels).map(([name, { what }]) => `  ${name.padEnd(15)}${what}`)
const usage = `Usage: npm run fetch-model -- NAME

${names.join('\n')}

It lies in models/ then; tests that need it run, and \`npm run bench -- LAYER --model NAME\` takes it.`

await runCommand(usage, async () => {
  const { positionals } = parseArgs({ allowPositionals: true })
  const [name, ...rest] = positionals
  if (name === undefined || rest.length > 0 || !isRealModel(name)) {
    throw new UsageError(`Name a model: ${Object.keys(realModels).join(', ')}`)
  }
  console.log(await ensureRealModel(name))
  return 0
})

/**
 * `npm run make-model -- NAME OUT`: writes a GGUF model of random weights.
 *
 * @module
 */

import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { runCommand, UsageError, wholeNumber } from '../command.js'
import { buildTool, listModels, writeModel } from './tool.js'

const usage = `Usage: npm run make-model -- NAME OUT [options]
       npm run make-model -- --list

  --type TYPE      F32, F16, BF16, Q8_0, Q4_0, Q4_K_M, … (default F32 for fixtures, else BF16)
  --seed N         seed of the weights (default 1)
  --vocab NAME     the tokenizer of llama.cpp's ggml-vocab-NAME.gguf
  --template T     chat template: chatml, always-thinks, llama3, none, or a file
  --decision TYPE  a decision model: openjev, lev, nimble, pplx-decider, lfm2-d1, kev, …
  --list           prints the names and types; builds the program that has them first,
                   which takes minutes the first time`

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      type: { type: 'string' },
      seed: { type: 'string', default: '1' },
      vocab: { type: 'string' },
      template: { type: 'string' },
      decision: { type: 'string' },
      list: { type: 'boolean' },
    },
  })
  if (values.list) {
    await listModels()
    return 0
  }
  const [name, path, ...rest] = positionals
  if (name === undefined || path === undefined || rest.length > 0) {
    throw new UsageError('Give the name of a model and the path of the file to write.')
  }
  const seed = wholeNumber('seed', values.seed, 0)

  await buildTool() // first, so that the time below is the model's alone
  const start = performance.now()
  await writeModel(name, path, { ...values, seed }, true)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const megabytes = (statSync(path).size / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })
  console.log(`${path}: ${megabytes} MB in ${seconds} s`)
  return 0
}

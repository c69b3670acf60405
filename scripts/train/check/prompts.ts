/**
 * `node dist/scripts/train/check/prompts.js MODEL < bodies.jsonl`: what the server evaluates for each
 * request, as tokens; one JSON line each. It is the server's own readout and tokenizer, so that what a
 * model is trained on can be held against what will be served.
 *
 * @module
 */

import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { readRequest } from '../../../src/api/read-request.js'
import { openEngine } from '../../../src/engine/engine.js'
import type { Engine, PromptPart } from '../../../src/engine/types.js'
import { createReadout } from '../../../src/prompt/readout.js'
import type { Readout } from '../../../src/prompt/types.js'
import { runCommand, UsageError } from '../../command.js'

const usage = `Usage: prompts MODEL < bodies.jsonl

Each line of the output: {"state": [tokens], "questions": [{"tokens"}]}`

const limits = { maxQuestions: 256, maxOptions: 255, maxLevels: 255 }

await runCommand(usage, main)

async function main(): Promise<number> {
  const { positionals } = parseArgs({ allowPositionals: true, options: {} })
  const [modelPath, ...rest] = positionals
  if (modelPath === undefined || rest.length > 0) throw new UsageError('Give one model.')
  const engine = await openEngine({ modelPath, metadataOnly: true })
  try {
    const readout = await createReadout(engine)
    for await (const line of createInterface({ input: process.stdin })) {
      console.log(JSON.stringify(await promptsOf(engine, readout, line)))
    }
  } finally {
    await engine.close()
  }
  return 0
}

async function promptsOf(engine: Engine, readout: Readout, line: string) {
  const { input } = readout.render(readRequest(line, limits))
  const questions = input.suffixes.map(async ({ parts }) => {
    return { tokens: await tokensOf(engine, parts) }
  })
  return { state: await tokensOf(engine, input.prefix), questions: await Promise.all(questions) }
}

async function tokensOf(engine: Engine, parts: readonly PromptPart[]): Promise<number[]> {
  return (await engine.tokenize(parts)).flatMap((tokens) => [...tokens])
}

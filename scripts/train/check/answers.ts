/**
 * `node dist/scripts/train/check/answers.js MODEL < bodies.jsonl`: the logits that the library reads
 * for each question's options, one JSON line for each request.
 *
 * @module
 */

import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { entriesOf } from '../../../src/api/json.js'
import { readRequest } from '../../../src/api/read-request.js'
import { open } from '../../../src/open.js'
import { runCommand, UsageError } from '../../command.js'

const usage = `Usage: answers MODEL < bodies.jsonl

Each line of the output: {"logits": [[…], …]}, by question`

const limits = { maxQuestions: 256, maxOptions: 255, maxLevels: 255 }

await runCommand(usage, main)

async function main(): Promise<number> {
  const { positionals } = parseArgs({ allowPositionals: true, options: {} })
  const [model, ...rest] = positionals
  if (model === undefined || rest.length > 0) throw new UsageError('Give one model.')
  const oi = await open({ model, orders: 1 })
  try {
    for await (const line of createInterface({ input: process.stdin })) {
      const { answers } = await oi.decide(readRequest(line, limits), { evidence: true })
      const logits = entriesOf(answers).map(([, answer]) => answer.evidence!.logits)
      console.log(JSON.stringify({ logits }))
    }
  } finally {
    await oi.close()
  }
  return 0
}

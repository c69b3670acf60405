/**
 * The process of a probe: loads a model, asks it once, and reports the outcome.
 *
 * One line of JSON in and out for each model. It ends when its input ends, at any stage.
 *
 * @module
 */

import { createInterface } from 'node:readline'
import { openEngine } from '../engine/engine.js'
import type { ModelInfo } from '../engine/types.js'
import { OiError } from '../errors.js'
import { availableMemory } from '../engine/machine.js'
import { fileBytes } from './file-facts.js'
import { inMemory } from './memory-plan.js'
import type { ProbeReply, ProbeRequest, ProbeStage } from './probe-protocol.js'
import { tryOut } from './try-out.js'

const lines = createInterface({ input: process.stdin })
lines.on('close', () => process.exit())
let last = Promise.resolve()
lines.on('line', (line) => {
  last = last.then(() => answer(JSON.parse(line) as ProbeRequest))
})

async function answer(request: ProbeRequest): Promise<void> {
  try {
    say({ loaded: await probe(request) })
  } catch (error) {
    const code = error instanceof OiError ? error.code : 'ERR_MODEL_LOAD'
    say({ loaded: true, error: { code, message: (error as Error).message } })
  }
}

function say(message: ProbeStage | ProbeReply): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

/** @returns False if there is no memory for it. */
async function probe(request: ProbeRequest): Promise<boolean> {
  say({ stage: 'reading its header' })
  const metadata = await openEngine({ ...request, metadataOnly: true })
  await metadata.close()
  if ((await neededBytes(metadata.info, request)) > availableMemory()) return false
  say({ stage: 'loading it' })
  const engine = await openEngine({ ...request, hostCacheBytes: 0 })
  try {
    await tryOut(engine, request.modelPath, (stage) => say({ stage }))
  } finally {
    await engine.close()
  }
  return true
}

async function neededBytes(info: ModelInfo, { projectorPath }: ProbeRequest): Promise<number> {
  const projectorBytes = projectorPath ? await fileBytes(projectorPath) : 0
  const { weightBytes, contextBytes } = inMemory(info, projectorBytes)
  return weightBytes + contextBytes
}

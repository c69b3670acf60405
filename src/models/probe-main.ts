/**
 * The process of a probe: loads what it is told to, asks it once, and says how that went.
 *
 * One line of JSON in and out for each model; ends when its input does, whatever it is at.
 *
 * @module
 */

import { createInterface } from 'node:readline'
import { openEngine } from '../engine/engine.js'
import type { Engine, ModelInfo, PromptPart, ScoreInput } from '../engine/types.js'
import { OiError } from '../errors.js'
import { availableMemory } from '../engine/machine.js'
import { fileBytes } from './file-facts.js'
import type { ProbeReply, ProbeRequest, ProbeStage } from './probe-protocol.js'

/** Pixels of each side: some patches of any projector. */
const side = 224

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
    say({ stage: 'asking it' })
    await ask(engine, request, [])
    if (engine.info.vision) {
      say({ stage: 'showing it a picture' })
      await ask(engine, request, [picture()])
    }
  } finally {
    await engine.close()
  }
  return true
}

async function neededBytes(info: ModelInfo, { projectorPath }: ProbeRequest): Promise<number> {
  if (info.device !== 'CPU') return 0
  return info.weightBytes + info.contextBytes + (projectorPath ? await fileBytes(projectorPath) : 0)
}

/** Two questions, so that there are forks. */
async function ask(engine: Engine, request: ProbeRequest, parts: PromptPart[]): Promise<void> {
  const text = (text: string): PromptPart => ({ text, trusted: false })
  const candidates = Int32Array.of(0, 1)
  const input: ScoreInput = {
    prefix: [text('It is cold today.'), ...parts],
    suffixes: [' Is it?', ' Was it so before?'].map((asked) => ({
      parts: [text(asked)],
      candidates,
    })),
  }
  try {
    await engine.score(input)
  } catch (error) {
    const reason = `${request.modelPath}: it cannot answer: ${(error as Error).message}`
    throw new OiError('ERR_MODEL_LOAD', reason, { cause: error })
  }
}

function picture(): PromptPart {
  const rgb = Uint8Array.from({ length: 3 * side * side }, (_, i) => (i * 7) & 255)
  return { text: '', trusted: false, image: { rgb, width: side, height: side } }
}

/**
 * The first questions to a model that was just opened: with some files, llama.cpp aborts only when
 * the model is asked.
 *
 * @module
 */

import type { Engine, PromptPart, ScoreInput } from '../engine/types.js'
import { OiError } from '../errors.js'
import { readsStates, trialSuffix } from '../prompt/hidden/hidden-readout.js'

/** Side of the test image, pixels: several patches of any projector. */
const side = 224

/**
 * Asks the model, with an image too if it can see.
 *
 * @param onStage - Called with what is tried next.
 * @throws {@link OiError} `ERR_MODEL_LOAD` if it cannot answer.
 */
export async function tryOut(
  engine: Engine,
  modelPath: string,
  onStage: (stage: string) => void,
): Promise<void> {
  try {
    onStage('asking it')
    await ask(engine, [])
    if (!engine.info.vision) return
    onStage('showing it an image')
    await ask(engine, [testImage()])
  } catch (error) {
    const reason = `${modelPath}: it cannot answer: ${(error as Error).message}`
    throw new OiError('ERR_MODEL_LOAD', reason, { cause: error })
  }
}

/** Two questions, so that there are forks. */
async function ask(engine: Engine, parts: PromptPart[]): Promise<void> {
  const text = (text: string): PromptPart => ({ text, trusted: false })
  const candidates = Int32Array.of(0, 1)
  const input: ScoreInput = {
    prefix: [text('It is cold today.'), ...parts],
    suffixes: [' Is it?', ' Was it so before?'].map((asked) =>
      readsStates(engine.info)
        ? trialSuffix(engine.info, asked)
        : { parts: [text(asked)], candidates },
    ),
  }
  await engine.score(input)
}

function testImage(): PromptPart {
  const rgb = Uint8Array.from({ length: 3 * side * side }, (_, i) => (i * 7) & 255)
  return { text: '', trusted: false, image: { rgb, width: side, height: side } }
}

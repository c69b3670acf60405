/**
 * What is known about a model file without loading its weights, and whether it can be served.
 *
 * @module
 */

import { hasRandomWeights, maxQuestions } from '../decide/model-card.js'
import type { Engine } from '../engine/types.js'
import { OiError } from '../errors.js'
import { createReadout, type Readout } from '../prompt/readout.js'

export interface Inspection {
  readonly file: string
  readonly architecture: string
  /** llama.cpp's words for architecture, size and quantization. */
  readonly description: string
  readonly kind: 'attention' | 'recurrent' | 'hybrid'
  readonly parameters: number
  readonly vocabularySize: number
  readonly trainedContextTokens: number
  readonly chatTemplate: boolean
  readonly randomWeights: boolean
  /** Bytes: of the weights, of a context of so many tokens, and of both. */
  readonly memory: {
    readonly weights: number
    readonly contextTokens: number
    readonly context: number
    readonly total: number
  }
  /** How it is asked; undefined if it cannot be served. */
  readonly readout:
    | {
        readonly name: string
        readonly labels: readonly string[]
        readonly noul: Readout['noulForms']
        readonly maxOptions: number
        readonly maxQuestions: number
      }
    | undefined
  /** Why it cannot be served. */
  readonly refusal: string | undefined
}

/**
 * @param file - As the caller named it.
 * @param engine - Open; metadata alone will do.
 * @returns The facts, and the readout if there is one.
 */
export async function inspectModel(
  file: string,
  engine: Engine,
): Promise<{ inspection: Inspection; readout: Readout | undefined }> {
  const { info } = engine
  const found = await createReadout(engine).catch(refusalOf)
  const readout = typeof found === 'string' ? undefined : found
  const inspection: Inspection = {
    file,
    architecture: info.architecture,
    description: info.description,
    kind: info.hybrid ? 'hybrid' : info.recurrent ? 'recurrent' : 'attention',
    parameters: info.parameters,
    vocabularySize: info.vocabularySize,
    trainedContextTokens: info.trainedContextTokens,
    chatTemplate: Boolean(info.chatTemplate),
    randomWeights: hasRandomWeights(info),
    memory: {
      weights: info.weightBytes,
      contextTokens: info.contextTokens,
      context: info.contextBytes,
      total: info.weightBytes + info.contextBytes,
    },
    readout: readout && {
      name: readout.name,
      labels: readout.labels,
      noul: readout.noulForms,
      maxOptions: readout.maxOptions,
      maxQuestions,
    },
    refusal: typeof found === 'string' ? found : undefined,
  }
  return { inspection, readout }
}

function refusalOf(error: unknown): string {
  if (error instanceof OiError && error.code === 'ERR_READOUT') return error.message
  throw error
}

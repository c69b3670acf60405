/**
 * The facts about a model file that need no loading of weights, and whether it can be served.
 *
 * @module
 */

import type { Orders } from '../decide/types.js'
import { hasRandomWeights, maxQuestions } from '../decide/model-card.js'
import type { Engine, ModelInfo, Placement } from '../engine/types.js'
import { OiError } from '../errors.js'
import type { ChosenReadout } from '../prompt/custom/types.js'
import { decisionType } from '../prompt/native/families.js'
import { createReadout } from '../prompt/readout.js'
import type { PassFacts, Readout } from '../prompt/types.js'

export interface Inspection {
  readonly file: string
  readonly architecture: string
  /** llama.cpp's words for architecture, size and quantization. */
  readonly description: string
  readonly kind: 'attention' | 'recurrent' | 'hybrid' | 'encoder'
  readonly parameters: number
  readonly vocabularySize: number
  readonly trainedContextTokens: number
  /** Most tokens of a state with its longest question. */
  readonly maxStateTokens: number
  readonly chatTemplate: boolean
  readonly randomWeights: boolean
  /** Bytes of the weights, of a context of so many tokens, and of both. */
  readonly memory: {
    readonly weights: number
    readonly contextTokens: number
    readonly context: number
    readonly total: number
  }
  /** The placement on the devices of this machine, with the given settings. */
  readonly placement: readonly Placement[]
  /** Most tokens that are evaluated at once. */
  readonly stepTokens: number
  /** As in {@link ModelInfo.kernels}. */
  readonly kernels: string
  /** Choices that differ from the given settings, and why. */
  readonly notes: readonly string[]
  /** How to ask it; undefined if it cannot be served. */
  readonly readout:
    | {
        readonly name: string
        readonly labels: readonly string[]
        readonly noul: Readout['noulForms']
        readonly maxOptions: number
        readonly maxQuestions: number
        /** The number of option orders that its readout sets, if any. */
        readonly orders?: Orders
        /** Type of a decision model, as `openjev`. */
        readonly decisionType?: string
        /** Its own temperatures, by type and number of options; `to` is null in the last bucket. */
        readonly temperatures?: Readout['temperatures']
        readonly noulRatings?: number
        /** For a model whose answers are read from its hidden states. */
        readonly pass?: PassFacts
        /** What to know about its answers. */
        readonly note?: string
      }
    | undefined
  /** Why it cannot be served. */
  readonly refusal: string | undefined
}

/**
 * @param file - The path as the caller gave it.
 * @param engine - Open; metadata alone will do.
 * @param custom - The user's own readout.
 * @returns The facts, and the readout if there is one.
 */
export async function inspectModel(
  file: string,
  engine: Engine,
  custom?: ChosenReadout,
): Promise<{ inspection: Inspection; readout: Readout | undefined }> {
  const { info } = engine
  const found = await createReadout(engine, { custom }).catch(refusalOf)
  const readout = typeof found === 'string' ? undefined : found
  const inspection: Inspection = {
    file,
    architecture: info.architecture,
    description: info.description,
    kind: kindOf(info, readout),
    parameters: info.parameters,
    vocabularySize: info.vocabularySize,
    trainedContextTokens: info.trainedContextTokens,
    maxStateTokens: info.maxStateTokens,
    chatTemplate: Boolean(info.chatTemplate),
    randomWeights: hasRandomWeights(info),
    memory: {
      weights: info.weightBytes,
      contextTokens: info.contextTokens,
      context: info.contextBytes,
      total: info.weightBytes + info.contextBytes,
    },
    placement: info.placement,
    stepTokens: info.stepTokens,
    kernels: info.kernels,
    notes: info.notes,
    readout: readout && {
      name: readout.name,
      labels: readout.labels,
      noul: readout.noulForms,
      maxOptions: readout.maxOptions,
      ...(readout.orders && { orders: readout.orders }),
      maxQuestions,
      ...(readout.pass && { pass: readout.pass }),
      ...(readout.note !== undefined && { note: readout.note }),
      ...ownFormat(info, readout),
    },
    refusal: typeof found === 'string' ? found : undefined,
  }
  return { inspection, readout }
}

function kindOf({ architecture, hybrid, recurrent }: ModelInfo, readout: Readout | undefined) {
  // Others than these are refused, or are decoders.
  if (readout?.pass !== undefined && architecture.includes('bert')) return 'encoder'
  return hybrid ? 'hybrid' : recurrent ? 'recurrent' : 'attention'
}

/** The facts that only decision models have. */
function ownFormat(info: ModelInfo, { temperatures, noulRatings }: Readout) {
  const type = decisionType(info)
  return {
    ...(type !== undefined && { decisionType: type }),
    ...(temperatures && { temperatures }),
    ...(noulRatings !== undefined && { noulRatings }),
  }
}

function refusalOf(error: unknown): string {
  if (error instanceof OiError && error.code === 'ERR_READOUT') return error.message
  throw error
}

/**
 * The card of a model in `GET /v1/models`: facts of the open model and of its file.
 *
 * @module
 */

import { mostItems, mostOptionsOfRequest } from '../api/limits.js'
import type { ModelInfo } from '../engine/types.js'
import { imageLimits } from '../images/limits.js'
import type { Readout } from '../prompt/types.js'
import { namesOf } from './model-names.js'
import type { ModelCard } from './types.js'

/** Facts that the model itself does not know. */
export interface ModelFacts {
  /** Name of the weights file, without folders. */
  readonly fileName: string
  /** `sha256:` and 64 hex digits of the weights file. */
  readonly digest: string
  /** ISO date. */
  readonly releaseDate: string
  /** Default: the file's name without its extension, or the name in the metadata. */
  readonly name?: string | undefined
  readonly aliases?: readonly string[] | undefined
  /** True if requests that name no model go to this one; the default. */
  readonly default?: boolean | undefined
  readonly calibration?: ModelCard['calibration'] | undefined
  /** Questions in one request. Default {@link maxQuestions}. */
  readonly maxQuestions?: number | undefined
}

/** The default limit of questions in one request. */
export const maxQuestions = 400

const randomNote =
  'Its weights are random: its answers mean nothing. It is for trying out the server.'

/** True for a model with random weights that says so in its metadata. */
export function hasRandomWeights(info: ModelInfo): boolean {
  return info.metadata['oi.random_weights'] === 'true'
}

/** The card of an open model. Never throws. */
export function createModelCard(info: ModelInfo, readout: Readout, facts: ModelFacts): ModelCard {
  const vision = info.vision && readout.textOnly !== true
  const { calibration } = facts
  const random = hasRandomWeights(info) ? [randomNote] : []
  const notes = [...(readout.note === undefined ? [] : [readout.note]), ...random]
  const name = modelName(info, facts)
  const isDefault = facts.default ?? true
  const names = namesOf({ name, aliases: facts.aliases ?? [], default: isDefault })
  return {
    name,
    description: [info.description, ...notes].join('. '),
    release_date: facts.releaseDate,
    aliases: names.slice(1),
    default: isDefault,
    modalities: vision ? ['text', 'image'] : ['text'],
    limits: {
      max_options: readout.maxOptions,
      max_levels: readout.maxOptions,
      max_questions: facts.maxQuestions ?? maxQuestions,
      max_options_per_request: mostOptionsOfRequest,
      // Together with the longest question of the request.
      max_state_tokens: info.maxStateTokens,
      max_images: vision ? imageLimits.maxImages : 0,
      // Of an image as it is sent, before scaling.
      max_image_pixels: vision ? imageLimits.maxSourcePixels : 0,
      max_batch: mostItems,
    },
    same_bits: info.sameBits,
    digest: facts.digest,
    readout: readout.name,
    ...(calibration && {
      calibration: {
        data: calibration.data,
        date: calibration.date,
        observations: calibration.observations,
      },
    }),
  }
}

/**
 * The given name, or else the file's: `Qwen3-0.6B-Q8_0.gguf` -> `Qwen3-0.6B-Q8_0`; for a model in
 * parts, the first part's.
 */
export function modelName(
  info: ModelInfo,
  { name: chosen, fileName }: Pick<ModelFacts, 'name' | 'fileName'>,
): string {
  if (chosen !== undefined) return chosen
  const stem = stemOf(fileName)
  const given = info.metadata['general.name']?.replace(/ \(.*\)$/, '')
  // The file of a generated model has a hash in its name, which is of no use to callers.
  const name = (hasRandomWeights(info) ? given || stem : stem || given) || info.architecture
  return plain(name)
}

/** The name that the model of a file has, unless its weights are random. */
export function nameOfFile(fileName: string): string {
  return plain(stemOf(fileName))
}

const stemOf = (fileName: string) =>
  fileName.replace(/\.gguf$/i, '').replace(/-\d{5}-of-\d{5}$/, '')
const plain = (name: string) => name.replace(/[^A-Za-z0-9._-]+/g, '-')

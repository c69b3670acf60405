/**
 * What `GET /v1/models` says about a model: facts of the open model and of its file.
 *
 * @module
 */

import type { ModelInfo } from '../engine/types.js'
import type { Readout } from '../prompt/readout.js'
import type { ModelCard } from './types.js'

/** What the model itself cannot know. */
export interface ModelFacts {
  /** Name of the weights file, without folders. */
  readonly fileName: string
  /** `sha256:` and 64 hex digits of the weights file. */
  readonly digest: string
  /** ISO date. */
  readonly releaseDate: string
  /** By default the file's name without its ending, or the name in the metadata. */
  readonly name?: string
  readonly aliases?: readonly string[]
  /** True if requests that name no model get this one; the default. */
  readonly default?: boolean
}

export const maxQuestions = 256

const randomNote =
  'Its weights are random numbers: its answers mean nothing. It is for trying out the server.'

/** True for a model that was made with random weights and says so in its metadata. */
export function hasRandomWeights(info: ModelInfo): boolean {
  return info.metadata['oi.random_weights'] === 'true'
}

/** The card of an open model. Never throws. */
export function createModelCard(info: ModelInfo, readout: Readout, facts: ModelFacts): ModelCard {
  return {
    name: facts.name ?? modelName(info, facts.fileName),
    description: hasRandomWeights(info) ? `${info.description}. ${randomNote}` : info.description,
    release_date: facts.releaseDate,
    aliases: facts.aliases ?? [],
    default: facts.default ?? true,
    modalities: ['text'],
    limits: {
      max_options: readout.maxOptions,
      max_levels: readout.maxOptions,
      max_questions: maxQuestions,
      // Together with the longest question of the request.
      max_state_tokens: info.contextTokens,
      max_images: 0,
      max_image_pixels: 0,
      // There is no batch route yet.
      max_batch: 0,
    },
    digest: facts.digest,
    readout: readout.name,
  }
}

/** `Qwen3-0.6B-Q8_0.gguf` -> `Qwen3-0.6B-Q8_0`; the first of several parts names them all. */
function modelName(info: ModelInfo, fileName: string): string {
  const stem = fileName.replace(/\.gguf$/i, '').replace(/-\d{5}-of-\d{5}$/, '')
  const given = info.metadata['general.name']?.replace(/ \(.*\)$/, '')
  // The file of a made model has a hash in its name, which is of no use to callers.
  const name = (hasRandomWeights(info) ? given || stem : stem || given) || info.architecture
  return name.replace(/[^A-Za-z0-9._-]+/g, '-')
}

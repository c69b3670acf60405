/**
 * What is found out about all models before the first of them is loaded: whether their names
 * differ, and how they fit into memory together.
 *
 * @module
 */

import type { ModelConfig } from '../config.js'
import { requireDistinctNames } from '../decide/model-names.js'
import { availableMemory } from '../engine/machine.js'
import {
  fitCaches,
  mebibyte,
  type MemoryNeed,
  requireMemory,
  totalBytes,
} from '../models/memory-plan.js'
import { sizeText } from '../models/size-text.js'
import type { Dependencies } from './dependencies.js'
import { tableText } from './table.js'

const columns = {
  model: ({ model }: MemoryNeed) => model,
  weights: ({ weightBytes }: MemoryNeed) => sizeText(weightBytes),
  context: ({ contextBytes }: MemoryNeed) => sizeText(contextBytes),
  cache: ({ cacheBytes }: MemoryNeed) => sizeText(cacheBytes),
  together: (need: MemoryNeed) => sizeText(totalBytes(need)),
}

export interface PlannedModel {
  readonly name: string
  /** With the size of its cache settled. */
  readonly config: ModelConfig
}

/**
 * Shows what several models need; about one, nothing is said unless it is refused.
 *
 * @param isolate - As of {@link SurveyModel}.
 * @param say - Takes whole lines.
 * @returns The models as they are to be opened, in the same order.
 * @throws {@link OiError} `ERR_CONFIG` (a name is claimed twice), `ERR_MODEL_MEMORY`, and what
 *   reading a model file throws.
 */
export async function planModels(
  models: readonly ModelConfig[],
  { surveyModel }: Pick<Dependencies, 'surveyModel'>,
  isolate: boolean,
  say: (text: string) => void,
  availableBytes = availableMemory(),
): Promise<readonly PlannedModel[]> {
  const surveyed: MemoryNeed[] = []
  for (const model of models) surveyed.push(await surveyModel(model, isolate))
  const needs = fitCaches(surveyed, availableBytes)
  requireDistinctNames(
    models.map(({ file, aliases = [], default: isDefault = true }, i) => ({
      file,
      name: needs[i]!.model,
      aliases,
      default: isDefault,
    })),
  )
  if (models.length > 1) {
    say(`Memory, of ${sizeText(availableBytes)} available:\n${tableText(needs, columns)}`)
  }
  requireMemory(needs, availableBytes)
  return models.map((model, i) => {
    const { model: name, cacheBytes, cacheYields } = needs[i]!
    const hostCacheMb = cacheYields ? Math.floor(cacheBytes / mebibyte) : model.hostCacheMb
    return { name, config: { ...model, hostCacheMb } }
  })
}

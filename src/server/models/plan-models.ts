/**
 * Checks models before they are loaded: whether their names differ, and whether they fit into
 * memory together.
 *
 * @module
 */

import type { ModelConfig } from '../../config.js'
import { requireDistinctNames } from '../../decide/model-names.js'
import { availableMemory } from '../../engine/machine.js'
import {
  fitCaches,
  mebibyte,
  type MemoryNeed,
  requireMemory,
  totalBytes,
} from '../../models/memory-plan.js'
import { sizeText } from '../../api/words.js'
import { textTable } from '../../terminal/text-table.js'

const columns = {
  model: ({ model }: MemoryNeed) => model,
  weights: ({ weightBytes }: MemoryNeed) => sizeText(weightBytes),
  context: ({ contextBytes }: MemoryNeed) => sizeText(contextBytes),
  cache: ({ cacheBytes }: MemoryNeed) => sizeText(cacheBytes),
  together: (need: MemoryNeed) => sizeText(totalBytes(need)),
}

export interface PlannedModel {
  readonly name: string
  /** As the settings have it. */
  readonly asked: ModelConfig
  /** With its final cache size. */
  readonly config: ModelConfig
  readonly need: MemoryNeed
}

type Survey = (model: ModelConfig) => Promise<MemoryNeed>

/**
 * Shows the memory of several models; of a single model only if it is refused.
 *
 * @param survey - Finds out the memory of one model.
 * @param say - Takes whole lines.
 * @returns The models to open, in the same order.
 * @throws {@link OiError} `ERR_CONFIG` (a name is claimed twice), `ERR_MODEL_MEMORY`, and what
 *   reading a model file throws.
 */
export async function planModels(
  models: readonly ModelConfig[],
  survey: Survey,
  say: (text: string) => void,
  availableBytes = availableMemory(),
): Promise<readonly PlannedModel[]> {
  const surveyed: MemoryNeed[] = []
  for (const model of models) surveyed.push(await survey(model))
  const needs = fitCaches(surveyed, availableBytes)
  const planned = models.map((model, i) => settle(model, needs[i]!))
  requireDistinctNames(planned.map(claimOf))
  if (models.length > 1) {
    const { lines } = textTable(needs, columns)
    say(`Memory, of ${sizeText(availableBytes)} available:\n${lines.join('\n')}\n`)
  }
  requireMemory(needs, availableBytes)
  return planned
}

/** The models that are loaded already. */
export interface Loaded {
  /** Models whose names are taken. */
  readonly named: readonly PlannedModel[]
  /** Models that have their memory. */
  readonly held: readonly PlannedModel[]
}

/**
 * Plans one more model, beside the loaded ones, whose caches keep their size.
 *
 * @param availableBytes - Memory for all of them together.
 * @throws As {@link planModels}.
 */
export async function planBeside(
  model: ModelConfig,
  { named: others, held }: Loaded,
  survey: Survey,
  availableBytes: number,
): Promise<PlannedModel> {
  const surveyed = await survey(model)
  requireDistinctNames([...others.map(claimOf), claimOf({ name: surveyed.model, asked: model })])
  const settled = held.map(({ need }) => ({ ...need, cacheYields: false }))
  const needs = fitCaches([...settled, surveyed], availableBytes)
  requireMemory(needs, availableBytes)
  return settle(model, needs.at(-1)!)
}

function settle(asked: ModelConfig, need: MemoryNeed): PlannedModel {
  const { model: name, cacheBytes, cacheYields } = need
  const hostCacheMb = cacheYields ? Math.floor(cacheBytes / mebibyte) : asked.hostCacheMb
  return { name, asked, config: { ...asked, hostCacheMb }, need }
}

/** The names that it claims, for {@link requireDistinctNames}. */
export function claimOf({ name, asked }: Pick<PlannedModel, 'name' | 'asked'>) {
  const { file, aliases = [], default: isDefault = true } = asked
  return { name, file, aliases, default: isDefault }
}

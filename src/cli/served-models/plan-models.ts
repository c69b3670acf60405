/**
 * What is found out about models before they are loaded: whether their names differ, and how they
 * fit into memory together.
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
import { tableText } from '../output/table.js'

const columns = {
  model: ({ model }: MemoryNeed) => model,
  weights: ({ weightBytes }: MemoryNeed) => sizeText(weightBytes),
  context: ({ contextBytes }: MemoryNeed) => sizeText(contextBytes),
  cache: ({ cacheBytes }: MemoryNeed) => sizeText(cacheBytes),
  together: (need: MemoryNeed) => sizeText(totalBytes(need)),
}

export interface PlannedModel {
  readonly name: string
  /** As it was asked for. */
  readonly asked: ModelConfig
  /** With the size of its cache settled. */
  readonly config: ModelConfig
  readonly need: MemoryNeed
}

type Survey = (model: ModelConfig) => Promise<MemoryNeed>

/**
 * Shows what several models need; about one, nothing is said unless it is refused.
 *
 * @param survey - Finds out what one needs.
 * @param say - Takes whole lines.
 * @returns The models as they are to be opened, in the same order.
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
    say(`Memory, of ${sizeText(availableBytes)} available:\n${tableText(needs, columns)}`)
  }
  requireMemory(needs, availableBytes)
  return planned
}

/** Those that are loaded already. */
export interface Loaded {
  /** Whose names are taken. */
  readonly named: readonly PlannedModel[]
  /** Which have their memory. */
  readonly held: readonly PlannedModel[]
}

/**
 * One more model, beside those that are loaded, whose caches keep their size.
 *
 * @param availableBytes - What all of them together may take.
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

/** Which names it claims, for {@link requireDistinctNames}. */
export function claimOf({ name, asked }: Pick<PlannedModel, 'name' | 'asked'>) {
  const { file, aliases = [], default: isDefault = true } = asked
  return { name, file, aliases, default: isDefault }
}

/**
 * Whether the models fit into memory together, found out before any of them is loaded.
 *
 * Weights count in full although they are mapped: what does not stay in memory is read again
 * for every step. What of a model lies on a GPU is not in this memory.
 *
 * @module
 */

import type { ModelInfo } from '../engine/types.js'
import { OiError } from '../errors.js'
import { sizeText } from '../api/words.js'

export const mebibyte = 2 ** 20

/** What one model takes. Bytes. */
export interface MemoryNeed {
  /** The model's name. */
  readonly model: string
  /** Of the model and its projector. */
  readonly weightBytes: number
  /** K/V cells and recurrent states. */
  readonly contextBytes: number
  /** RAM for states that have left the context. */
  readonly cacheBytes: number
  /** Whether nobody asked for that size: the cache then takes what everything else leaves. */
  readonly cacheYields: boolean
}

/**
 * @param info - Of an open model; metadata alone will do.
 * @param projectorBytes - Size of the projector file, where there is one.
 */
export function memoryNeed(
  model: string,
  info: ModelInfo,
  cacheYields: boolean,
  projectorBytes = 0,
): MemoryNeed {
  const { weightBytes, contextBytes } = inMemory(info, projectorBytes)
  return {
    model,
    weightBytes,
    contextBytes,
    cacheBytes: info.hostCacheBytes,
    cacheYields,
  }
}

/** What of a model and its projector lies in RAM. Bytes. */
export function inMemory(info: ModelInfo, projectorBytes: number) {
  const { device, placement, weightBytes, contextBytes } = info
  if (device === 'CPU') return { weightBytes: weightBytes + projectorBytes, contextBytes }
  const ram = placement.find((entry) => entry.device === 'CPU')
  return {
    weightBytes: ram?.weightBytes ?? 0,
    contextBytes: ram === undefined ? 0 : ram.cellBytes + ram.bufferBytes,
  }
}

/** Of all replicas of one model, each of which has weights and a context of its own. */
export function sumNeeds(needs: readonly MemoryNeed[]): MemoryNeed {
  return needs.reduce((sum, need) => ({
    ...sum,
    weightBytes: sum.weightBytes + need.weightBytes,
    contextBytes: sum.contextBytes + need.contextBytes,
    cacheBytes: sum.cacheBytes + need.cacheBytes,
  }))
}

export function totalBytes({ weightBytes, contextBytes, cacheBytes }: MemoryNeed): number {
  return weightBytes + contextBytes + cacheBytes
}

/** The same needs, with the caches that yield made smaller where that is needed, all alike. */
export function fitCaches(
  needs: readonly MemoryNeed[],
  availableBytes: number,
): readonly MemoryNeed[] {
  const yielding = needs.filter(({ cacheYields }) => cacheYields)
  const fixedBytes = sum(needs) - yielding.reduce((bytes, need) => bytes + need.cacheBytes, 0)
  const shareBytes = Math.max(0, Math.floor((availableBytes - fixedBytes) / yielding.length))
  return needs.map((need) =>
    need.cacheYields ? { ...need, cacheBytes: Math.min(need.cacheBytes, shareBytes) } : need,
  )
}

/**
 * Refuses models that do not fit together.
 *
 * @param availableBytes - What all of them together may take.
 * @throws {@link OiError} `ERR_MODEL_MEMORY` with the numbers and what to change.
 */
export function requireMemory(needs: readonly MemoryNeed[], availableBytes: number): void {
  const neededBytes = sum(needs)
  if (neededBytes <= availableBytes) return
  const rows = needs.map(
    ({ model, weightBytes, contextBytes, cacheBytes }) =>
      `  ${model}: weights ${sizeText(weightBytes)}, context ${sizeText(contextBytes)}, ` +
      `cache ${sizeText(cacheBytes)}\n`,
  )
  const fewer = needs.length > 1 ? ', or fewer models' : ''
  throw new OiError(
    'ERR_MODEL_MEMORY',
    `${sizeText(neededBytes)} of memory are needed, ${sizeText(availableBytes)} are available:\n` +
      `${rows.join('')}Choose a smaller --context-tokens or --host-cache-mb, a smaller model${fewer}.`,
  )
}

function sum(needs: readonly MemoryNeed[]): number {
  return needs.reduce((bytes, need) => bytes + totalBytes(need), 0)
}

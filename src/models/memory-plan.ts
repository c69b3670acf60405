/**
 * Checks whether the models fit into memory together, before any of them is loaded.
 *
 * Weights count in full although they are mapped: pages that do not stay in memory are read again
 * for every step. The parts of a model on a GPU do not count.
 *
 * @module
 */

import type { ModelInfo } from '../engine/types.js'
import { OiError } from '../errors.js'
import { sizeText } from '../api/words.js'

export const mebibyte = 2 ** 20

/** The memory of one model. Bytes. */
export interface MemoryNeed {
  /** The model's name. */
  readonly model: string
  /** Of the model and its projector. */
  readonly weightBytes: number
  /** KV cells and recurrent states. */
  readonly contextBytes: number
  /** RAM for states that have left the context. */
  readonly cacheBytes: number
  /** Whether the cache size is a default: the cache then takes the memory that is left over. */
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

/** The part of a model and its projector that lies in RAM. Bytes. */
export function inMemory(info: ModelInfo, projectorBytes: number) {
  const { device, placement, weightBytes, contextBytes } = info
  if (device === 'CPU') return { weightBytes: weightBytes + projectorBytes, contextBytes }
  const ram = placement.find((entry) => entry.device === 'CPU')
  return {
    weightBytes: ram?.weightBytes ?? 0,
    contextBytes: ram === undefined ? 0 : ram.cellBytes + ram.bufferBytes,
  }
}

/** The memory of all replicas of one model: each has weights and a context of its own. */
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

/** The same needs; if they exceed the memory, caches that yield shrink, all to the same size. */
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
 * @param availableBytes - For all of them together.
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

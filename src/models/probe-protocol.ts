/**
 * The requests and replies of a probe: a line of JSON each. See `probe.ts`.
 *
 * @module
 */

import type { EngineOptions } from '../engine/engine.js'

/** The engine options that a probe needs, as JSON can carry them. */
const optionNames = [
  ...(['modelPath', 'projectorPath', 'contextTokens', 'maxForks', 'batchTokens'] as const),
  ...(['microbatchTokens', 'threads', 'device', 'split', 'tensorSplit', 'gpuLayers'] as const),
  ...(['cpuExperts', 'mmap', 'flashAttention', 'cacheType', 'kernels'] as const),
  'deterministic',
] as const

/** The options that the model will be opened with. */
export type ProbeRequest = Pick<EngineOptions, (typeof optionNames)[number]>

export function probeRequest(options: EngineOptions): ProbeRequest {
  const entries = optionNames.map((name) => [name, options[name]])
  return Object.fromEntries(entries) as ProbeRequest
}

/** Sent before the reply: the stage that begins. */
export interface ProbeStage {
  readonly stage: string
}

export interface ProbeReply {
  /** False if there was no memory to load the weights: only header and vocabulary were read. */
  readonly loaded: boolean
  readonly error?: { readonly code: string; readonly message: string }
}

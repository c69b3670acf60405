/**
 * The requests and replies of a probe: a line of JSON each. See `probe.ts`.
 *
 * @module
 */

import type { EngineOptions } from '../engine/engine.js'

/** The options that the model will be opened with. */
export type ProbeRequest = Pick<
  EngineOptions,
  | 'modelPath'
  | 'projectorPath'
  | 'contextTokens'
  | 'maxForks'
  | 'batchTokens'
  | 'microbatchTokens'
  | 'threads'
  | 'device'
  | 'split'
  | 'tensorSplit'
  | 'gpuLayers'
  | 'cpuExperts'
  | 'mmap'
  | 'flashAttention'
  | 'cacheType'
  | 'kernels'
  | 'deterministic'
>

/** Sent before the reply: the stage that begins. */
export interface ProbeStage {
  readonly stage: string
}

export interface ProbeReply {
  /** False if there was no memory to load the weights: only header and vocabulary were read. */
  readonly loaded: boolean
  readonly error?: { readonly code: string; readonly message: string }
}

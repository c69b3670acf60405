/**
 * What a probe is told and answers: a line of JSON each. See `probe.ts`.
 *
 * @module
 */

import type { EngineOptions } from '../engine/engine.js'

/** How the model will be opened. */
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

/** What comes before the reply: where it is now. */
export interface ProbeStage {
  readonly stage: string
}

export interface ProbeReply {
  /** False if there is no memory to load it: only its header and vocabulary were read. */
  readonly loaded: boolean
  readonly error?: { readonly code: string; readonly message: string }
}

/**
 * What the admin API asks of the models on the server's disk.
 *
 * @module
 */

import type { OnProgress } from './socket/operations.js'

export interface NamedModelStatus {
  readonly name: string
  readonly bytes: number
  readonly state: 'packaged' | 'pulled' | 'unfinished'
  /** Empty if unknown. */
  readonly quantization: string
  readonly seesImages: boolean
  /** Empty if unknown. */
  readonly source: string
  /** ms since 1970; undefined unless it was pulled and is whole. */
  readonly pulledMs: number | undefined
  /** Whether the server has it open. */
  readonly isLoaded: boolean
}

interface AskedPull {
  readonly source: string
  readonly name: string | undefined
  readonly sha256: string | undefined
}

/** All methods reject with an {@link OiError}. */
export interface PullAdmin {
  list(): Promise<{
    readonly models: readonly NamedModelStatus[]
    readonly folder: string
    /** Room on its disk; undefined if it is unknown. */
    readonly freeBytes: number | undefined
  }>
  pull(asked: AskedPull, onProgress: OnProgress, signal: AbortSignal): Promise<NamedModelStatus>
  /** @returns The bytes that are free now. */
  remove(name: string): Promise<number>
}

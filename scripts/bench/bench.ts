/**
 * What every layer is given.
 *
 * @module
 */

import type { BenchOptions } from './options.js'
import type { Quiet } from './quiet.js'
import { interleave, type Rounds, type Subject } from './rounds.js'

export interface ModelFile {
  readonly path: string
  /** llama.cpp's description, as `qwen3 0.6B Q4_0`. */
  readonly description: string
  /** Those asked for, or what the engine chooses. */
  readonly threads: number
}

export interface Bench {
  readonly options: BenchOptions
  readonly quiet: Quiet
  /** Shows progress. */
  say(line: string): void
  /** Puts a condition that readers must know into the report. */
  note(line: string): void
  /** Made first if it is not there. */
  model(): Promise<ModelFile>
  /** Folder with llama-bench and llama-server, which are built first if need be. */
  tools(): Promise<string>
}

export function measure(
  { options: { rounds, retries }, quiet, say }: Bench,
  subjects: readonly Subject[],
  prepare?: () => Promise<void>,
): Promise<Rounds> {
  return interleave(subjects, { rounds, retries, ...(prepare && { prepare }) }, quiet, say)
}

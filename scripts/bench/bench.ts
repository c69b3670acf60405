/**
 * What every layer is given.
 *
 * @module
 */

import type { BenchOptions } from './options.js'
import type { Quiet } from './quiet.js'
import { interleave, type Rounds, type Subject } from './rounds.js'

export interface Bench {
  readonly options: BenchOptions
  readonly quiet: Quiet
  /** Shows progress. */
  say(line: string): void
  /** Puts a condition that readers must know into the report. */
  note(line: string): void
  /** Path of the model, which is made first if it is not there. */
  model(): Promise<string>
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

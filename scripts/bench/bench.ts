/**
 * What every layer is given.
 *
 * @module
 */

import type { Figure } from './figure.js'
import type { Provenance } from './machine.js'
import type { ModelFile, ShapeName } from './model-file.js'
import type { BenchOptions } from './options.js'
import type { Quiet } from './quiet.js'
import { interleave, type Rounds, type Subject } from './rounds.js'

export interface Bench {
  readonly options: BenchOptions
  readonly origin: Provenance
  readonly quiet: Quiet
  /** Shows progress. */
  say(line: string): void
  /** Puts a condition that readers must know into the report. */
  note(line: string): void
  /**
   * Saves a group of figures, at once: call it as soon as they are known.
   *
   * @param model - What they were measured with, if with any.
   */
  record(figures: readonly Figure[], model?: ModelFile): void
  /**
   * Made first if it is not there.
   *
   * @param shape - Without `--model`; `qwen3-0.6b` by default.
   * @param type - Weights of the shape, whatever `--model` and `--type` say.
   */
  model(shape?: ShapeName, type?: string): Promise<ModelFile>
  /** Folder with llama-bench and llama-server, which are built first if need be. */
  tools(): Promise<string>
}

/** Whether a row of a layer is asked for. */
export function wants({ options }: Bench, row: string): boolean {
  return row.includes(options.only)
}

/** Measures these in turn, as many rounds as asked for. */
export function measure(
  { options: { rounds, retries }, quiet, say }: Bench,
  subjects: readonly Subject[],
  prepare?: () => Promise<void>,
): Promise<Rounds> {
  return interleave(subjects, { rounds, retries, ...(prepare && { prepare }) }, quiet, say)
}

/** Measures one thing once: what takes minutes and is its own average. */
export function measureOnce({ quiet, say }: Bench, subject: Subject): Promise<Rounds> {
  return interleave([subject], { rounds: 1, retries: 0 }, quiet, say)
}

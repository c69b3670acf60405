/**
 * The input of every layer.
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
   * Saves a group of figures; call it as soon as they are known.
   *
   * @param model - The model that was measured, if any.
   */
  record(figures: readonly Figure[], model?: ModelFile): void
  /**
   * Made first if it does not exist.
   *
   * @param shape - Used without `--model`; default `qwen3-0.6b`.
   * @param type - Weights of the shape, whatever `--model` and `--type` say.
   */
  model(shape?: ShapeName, type?: string): Promise<ModelFile>
  /** Folder with llama-bench and llama-server; builds them if necessary. */
  tools(): Promise<string>
}

/** Whether a row of a layer is selected. */
export function wants({ options }: Bench, row: string): boolean {
  return row.includes(options.only)
}

/** Measures these in turn, for the chosen number of rounds. */
export function measure(
  { options: { rounds, retries }, quiet, say }: Bench,
  subjects: readonly Subject[],
  prepare?: () => Promise<void>,
): Promise<Rounds> {
  return interleave(subjects, { rounds, retries, ...(prepare && { prepare }) }, quiet, say)
}

/** Measures something once that takes minutes and is its own average. */
export function measureOnce({ quiet, say }: Bench, subject: Subject): Promise<Rounds> {
  return interleave([subject], { rounds: 1, retries: 0 }, quiet, say)
}

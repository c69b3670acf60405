/**
 * A rendered question: its suffixes, and how its answer is read behind them.
 *
 * @module
 */

import type { LabelReading, StepReading } from '../scoring/types.js'

export interface Asked {
  readonly suffixes: readonly AskedSuffix[]
  readonly reading: LabelReading | StepReading
}

export interface AskedSuffix {
  /** The wording with the caller's text: never trusted. */
  readonly text: string
  /** The beginning of the answer, behind the tail. Default: none. */
  readonly begun?: string
  readonly candidates: Int32Array
}

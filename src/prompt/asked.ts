/**
 * A question as it is asked: the suffixes that a readout makes of it, and how its answer is read
 * behind them.
 *
 * @module
 */

import type { LabelReading, StepReading } from '../scoring/types.js'

export interface Asked {
  readonly suffixes: readonly AskedSuffix[]
  readonly reading: LabelReading | StepReading
}

export interface AskedSuffix {
  /** The wording, the caller's text in it: never trusted. */
  readonly text: string
  /** The beginning of the answer, which stands behind the tail; none by default. */
  readonly begun?: string
  readonly candidates: Int32Array
}

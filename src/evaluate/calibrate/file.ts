/**
 * What a calibration file has (models/calibration-file.ts), but for its format.
 *
 * @module
 */

import type { Temperature } from '../../scoring/types.js'
import type { Calibrated, CalibrateOptions } from './calibrate.js'

/** The facts about a calibration besides its numbers. */
export interface Provenance {
  /** `sha256:` and 64 hex digits of the weights file. */
  readonly model: string
  /** Name and version of the readout. */
  readonly readout: string
  /** Name of the labelled data. */
  readonly data: string
  /** ISO date. */
  readonly date: string
  /** The model's own temperatures; undefined without any. */
  readonly onTopOf?: readonly Temperature[] | undefined
}

/** The content of the file. */
export function calibrationFile(
  { model, readout, data, date, onTopOf }: Provenance,
  { observations, types, heldOut: { before, after } }: Calibrated,
  { share, seed }: CalibrateOptions,
) {
  const heldOut = { share, seed, before, after }
  return { model, readout, data, date, onTopOf, observations, types, heldOut }
}

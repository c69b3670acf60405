/**
 * A calibration belongs to the model that it was made with, and is refused for any other model; it
 * is applied on top of the model's own temperatures.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { Readout } from '../prompt/types.js'
import {
  type BoundCalibration,
  type Calibration,
  ownCalibration,
  type QuestionType,
} from '../scoring/calibration.js'
import type { Temperature } from '../scoring/types.js'

const remedy = 'make another with oi calibrate, or leave it out with --calibration off'

/**
 * @param digest - The model's.
 * @param readout - The model's.
 * @throws {@link OiError} `ERR_CALIBRATION` if it was made with other weights, for another readout,
 *   or on top of other temperatures.
 */
export function requireOwn(
  calibration: BoundCalibration,
  digest: string,
  { name: readout, temperatures = [] }: Pick<Readout, 'name' | 'temperatures'>,
): void {
  const { path, onTopOf } = calibration
  const fault =
    calibration.digest !== digest
      ? `model: expected ${digest}, this model's digest, got ${calibration.digest}`
      : calibration.readout !== readout
        ? `readout: expected ${readout}, this model's readout, got ${calibration.readout}`
        : onTopOf !== undefined && textOf(onTopOf) !== textOf(temperatures)
          ? "onTopOf: expected the model's own temperatures, got others"
          : undefined
  if (fault === undefined) return
  throw new OiError('ERR_CALIBRATION', `${path}: ${fault}: ${remedy}`)
}

function textOf(temperatures: readonly Temperature[]): string {
  const rows = temperatures.map(({ type, from, to, temperature, bias = 0 }) =>
    [type, from, to, temperature, bias].join(' '),
  )
  return rows.sort().join('\n')
}

const none: Calibration = { temperature: 1, bias: 0 }

export interface Calibrations {
  readonly own: Calibration
  /** Of the probabilities that `own` gives. */
  readonly onTop: Calibration | undefined
}

/**
 * What applies to so many options of a type.
 *
 * @param temperatures - The model's own.
 */
export function calibrationsFor(
  temperatures: readonly Temperature[],
  calibration: BoundCalibration | undefined,
): (type: QuestionType, options: number) => Calibrations {
  const ownOf = ownCalibration(temperatures)
  return (type, options) => {
    const own = ownOf(type, options)
    // A file of an earlier version was fitted to raw logits, which it does not get here.
    const fits = own === undefined || calibration?.onTopOf !== undefined
    return {
      own: own ?? none,
      onTop: fits ? calibration?.of(type, options) : undefined,
    }
  }
}

/**
 * A calibration belongs to the model that it was made with, and is refused for any other model.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { BoundCalibration } from '../scoring/calibration.js'

const remedy = 'make another with oi calibrate, or leave it out with --calibration off'

/**
 * @param digest - The model's.
 * @param readout - The name of the model's readout.
 * @throws {@link OiError} `ERR_CALIBRATION` if it was made with other weights, or for another
 *   readout.
 */
export function requireOwn(calibration: BoundCalibration, digest: string, readout: string): void {
  const { path } = calibration
  if (calibration.digest !== digest) {
    throw new OiError(
      'ERR_CALIBRATION',
      `${path}: model: expected ${digest}, this model's digest, got ${calibration.digest}: ${remedy}`,
    )
  }
  if (calibration.readout !== readout) {
    throw new OiError(
      'ERR_CALIBRATION',
      `${path}: readout: expected ${readout}, this model's readout, got ${calibration.readout}: ${remedy}`,
    )
  }
}

/**
 * A calibration belongs to the model that it was made with, and is refused for any other.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { BoundCalibration } from '../scoring/calibration.js'

const remedy = 'make another with oi calibrate, or leave it out with --calibration off'

/**
 * @param digest - Of the model.
 * @param readout - Name of its readout.
 * @throws {@link OiError} `ERR_CALIBRATION` if it was made with other weights, or of answers to
 *   another readout.
 */
export function requireOwn(calibration: BoundCalibration, digest: string, readout: string): void {
  const { path } = calibration
  if (calibration.digest !== digest) {
    throw new OiError(
      'ERR_CALIBRATION',
      `${path}: model: expected ${digest}, which is this model, got ${calibration.digest}: ${remedy}`,
    )
  }
  if (calibration.readout !== readout) {
    throw new OiError(
      'ERR_CALIBRATION',
      `${path}: readout: expected ${readout}, as this model is asked, got ${calibration.readout}: ${remedy}`,
    )
  }
}

/**
 * Errors about images. The message begins with the place, which is also `param`.
 *
 * @module
 */

import { OiError } from '../errors.js'

/** The right shape, but not acceptable: 400. */
export function unacceptable(place: string, rule: string, cause?: unknown): OiError {
  return new OiError('ERR_REQUEST_UNACCEPTABLE', `${place}: ${rule}`, { param: place, cause })
}

/** The wrong shape: 422. */
export function malformed(place: string, rule: string): OiError {
  return new OiError('ERR_BODY_INVALID', `${place}: ${rule}`, { param: place })
}

/**
 * Puts the place of a fault before its message.
 *
 * @module
 */

import { OiError } from '../../errors.js'

/** Runs `work`; its `ERR_READOUT` errors name the place. */
export function naming<T>(place: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw named(place, error)
  }
}

/** The same error, with the place if it is an `ERR_READOUT`. */
export function named(place: string, error: unknown): unknown {
  if (!(error instanceof OiError) || error.code !== 'ERR_READOUT') return error
  return new OiError('ERR_READOUT', `${place}: ${error.message}`, { cause: error })
}

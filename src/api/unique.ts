/**
 * Names that stand twice: refused in every object that the interface defines. In data, such as a
 * state, the last one counts.
 *
 * @module
 */

import { duplicateKeyOf } from './json-value.js'
import { failure, placeOf } from './place.js'

/** @throws `OiError` `ERR_BODY_INVALID`. @param place - Of the object; `''` is the body itself. */
export function requireUnique(object: object, place: string): void {
  const name = duplicateKeyOf(object)
  if (name === undefined) return
  throw failure('ERR_BODY_INVALID', placeOf(place, name), 'expected each name once, got it twice')
}

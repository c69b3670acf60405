/**
 * Reads JSON written by programs: this program's own files, and the replies of a hub. Anything
 * unexpected throws, and the caller adds the file or address.
 *
 * @module
 */

import Type from 'typebox'
import { faultOf, wordsOf } from '../api/schema-fault.js'

/** A number of bytes or milliseconds. */
export const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** @throws SyntaxError, TypeError. */
export function readFields<T extends Type.TSchema>(schema: T, text: string): Type.Static<T> {
  const value: unknown = JSON.parse(text)
  const fault = faultOf(schema, value)
  if (fault === undefined) return value as Type.Static<T>
  throw new TypeError(`${fault.steps.join('.')}: expected ${wordsOf(fault.schema)}`)
}

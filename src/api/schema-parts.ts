/**
 * Parts of the wire's schemas, in addition to TypeBox's.
 *
 * @module
 */

import Type from 'typebox'
import { RawNumber } from './json.js'

export const count = (description: string) => Type.Integer({ minimum: 0, description })

/** An object with a name in the OpenAPI document. */
export const named = <Properties extends Type.TProperties>(
  title: string,
  properties: Properties,
  options: Type.TObjectOptions = {},
) => Type.Object(properties, { title, ...options })

/** The schema compiler takes a {@link RawNumber} for an object; it never is one. */
export function objectOnly<S extends Type.TSchema>(schema: S) {
  return Type.Refine(schema, (value: unknown) => !(value instanceof RawNumber))
}

/**
 * An object with the caller's own names. TypeBox's record would use a pattern, but readers of the
 * OpenAPI document look at `additionalProperties`.
 *
 * @param options - Including `additionalProperties`, whose type is `T`.
 */
export function mapOf<T>(options: Type.TObjectOptions) {
  return Type.Unsafe<Record<string, T>>(Type.Object({}, options))
}

/**
 * What the schemas of the wire are made of, besides TypeBox's own.
 *
 * @module
 */

import Type from 'typebox'
import { RawNumber } from './json.js'

export const count = (description: string) => Type.Integer({ minimum: 0, description })

/** To the schema compiler a {@link RawNumber} looks like an object; it never is one. */
export function objectOnly<S extends Type.TSchema>(schema: S) {
  return Type.Refine(schema, (value: unknown) => !(value instanceof RawNumber))
}

/**
 * An object with names of the caller's own. TypeBox's record would say so by a pattern, and
 * readers of the OpenAPI document look at `additionalProperties`.
 *
 * @param options - Among them `additionalProperties`, of which `T` is the type.
 */
export function mapOf<T>(options: Type.TObjectOptions) {
  return Type.Unsafe<Record<string, T>>(Type.Object({}, options))
}

/**
 * Reads JSON written by programs: this program's own files, and the replies of a hub. Anything
 * unexpected throws, and the caller adds the file or address.
 *
 * @module
 */

export type Fields = Readonly<Record<string, unknown>>

/** @throws TypeError if it is no object. */
export function objectOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new TypeError('expected an object')
}

/** @throws TypeError if it is no array. */
export function arrayOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name]
  if (Array.isArray(value)) return value
  throw new TypeError(`${name}: expected an array`)
}

/** @throws TypeError if it is no text. */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'string') return value
  throw new TypeError(`${name}: expected a text`)
}

/** A number of bytes or milliseconds. @throws TypeError if it is none. */
export function countOf(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new TypeError(`${name}: expected a whole number`)
}

/**
 * Checks of the fields of a readout's JSON.
 *
 * @module
 */

import { duplicateKeyOf, isJsonObject, type Json, type JsonObject } from '../../api/json.js'
import { nearestOf } from '../../api/words.js'
import { OiError } from '../../errors.js'

/** @param place - `''` is the file itself. */
export function refusal(place: string, message: string): OiError {
  return new OiError('ERR_READOUT', place === '' ? message : `${place}: ${message}`)
}

/**
 * @param known - The allowed names.
 * @throws {@link OiError} `ERR_READOUT` if it is no object, has an unknown name, or a name twice.
 */
export function objectAt(
  place: string,
  value: Json | undefined,
  known: readonly string[],
): JsonObject {
  if (!isJsonObject(value)) throw refusal(place, 'expected an object')
  const twice = duplicateKeyOf(value)
  if (twice !== undefined) throw refusal(place, `${twice} is given twice`)
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown === undefined) return value
  throw refusal(place, `unknown key ${unknown}: did you mean ${nearestOf(unknown, known)}?`)
}

/** @throws {@link OiError} `ERR_READOUT` if it is no text, or empty. */
export function textAt(place: string, value: Json | undefined): string {
  if (typeof value === 'string' && value !== '') return value
  throw refusal(place, 'expected a text that is not empty')
}

/** @throws {@link OiError} `ERR_READOUT` if it is no list of different texts of that length. */
export function distinctTexts(
  place: string,
  value: Json | undefined,
  least: number,
  most: number,
): readonly string[] {
  if (!Array.isArray(value) || value.length < least || value.length > most) {
    const got = Array.isArray(value) ? `, got ${value.length}` : ''
    throw refusal(place, `expected a list of ${least} to ${most} texts${got}`)
  }
  const texts = value.map((text, i) => textAt(`${place}[${i}]`, text))
  const twice = texts.findIndex((text, i) => texts.indexOf(text) < i)
  if (twice === -1) return texts
  throw refusal(`${place}[${twice}]`, `${JSON.stringify(texts[twice])} stands twice`)
}

/**
 * Names of places in a body, for error messages: `questions.team.criteria`, `questions["a b"]`.
 *
 * @module
 */

import { type ErrorCode, OiError } from '../errors.js'

const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/
const longestName = 40

/**
 * The place of a member of the object at `parent`; `''` is the body itself.
 *
 * A name that is not a plain identifier stands in brackets as JSON, a long one is shortened.
 *
 * @example
 * ```ts
 * placeOf('questions', 'team') // 'questions.team'
 * placeOf('questions', 'a b') // 'questions["a b"]'
 * placeOf('', 'state') // 'state'
 * ```
 */
export function placeOf(parent: string, name: string): string {
  const shown = shortened(name)
  if (shown !== name || !identifier.test(name)) return `${parent}[${JSON.stringify(shown)}]`
  return parent === '' ? name : `${parent}.${name}`
}

/** The place of an item of the array at `parent`: `state.photos[0]`. */
export function itemOf(parent: string, index: number): string {
  return `${parent}[${index}]`
}

/** At most 40 characters of a text; surrogate pairs stay whole. */
export function shortened(text: string): string {
  if (text.length <= longestName) return text
  const points = [...text.slice(0, 2 * longestName)]
  return points.length <= longestName ? text : `${points.slice(0, longestName - 1).join('')}…`
}

/** An error about a place in the body; `''` is the body as a whole. */
export function failure(code: ErrorCode, place: string, rule: string): OiError {
  const at = place === '' ? 'body' : place
  return new OiError(code, `${at}: ${rule}`, place === '' ? {} : { param: place })
}

/**
 * An error at a place that had another name in the body as it was sent.
 *
 * @param placeBefore - Gives that name; undefined is the whole request.
 */
export function moved(error: OiError, placeBefore: (param: string | undefined) => string): OiError {
  const { code, message, param } = error
  const start = `${param ?? 'body'}: `
  // An error without a place (overload, timeout) is not about the request.
  if (!message.startsWith(start)) return error
  const place = placeBefore(param)
  const rule = message.slice(start.length)
  return new OiError(code, `${place}: ${rule}`, { param: place, cause: error })
}

/**
 * A caller's values as the text that a decision model's template gets.
 *
 * The templates take text as it is and would write anything else as JSON; here that has been done
 * already, as a template's interpreter would lose the order of names and the digits of numbers.
 *
 * @module
 */

import type { Json } from '../../api/json.js'
import { type JsonForm, stringifyInSteps } from '../../api/json-writer.js'
import { atOnce, type Steps } from '../../api/turns.js'

/**
 * A string as it is, anything else as JSON on one line with a space behind `,` and `:`, unless told.
 *
 * @example
 * ```ts
 * templateText({ b: [1, 2], a: null }, {}) // '{"b": [1, 2], "a": null}'
 * ```
 */
export function templateText(value: Json, form: JsonForm): string {
  return atOnce(templateTextInSteps(value, form))
}

/** As {@link templateText}, in steps. */
export function* templateTextInSteps(value: Json, form: JsonForm): Steps<string> {
  if (typeof value === 'string') return value
  return yield* stringifyInSteps(value, { spaced: true, ...form })
}

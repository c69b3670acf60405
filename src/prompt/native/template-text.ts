/**
 * A caller's values as text for a decision model's template.
 *
 * Templates show text as it is and write other values as JSON. That is done here in advance, as the
 * template interpreter would lose the order of names and the digits of numbers.
 *
 * @module
 */

import type { Json } from '../../api/json.js'
import { type JsonForm, stringifyInSteps } from '../../api/json-writer.js'
import { atOnce, type Steps } from '../../api/turns.js'

/**
 * A string as it is, anything else as JSON on one line, by default with a space behind `,` and `:`.
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

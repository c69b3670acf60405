/**
 * A caller's values as the text that a decision model's template gets.
 *
 * The templates take text as it is and would write anything else as JSON; here that has been done
 * already, as a template's interpreter would lose the order of names and the digits of numbers.
 *
 * @module
 */

import { entriesOf, isJsonObject, stringifyJson } from '../../api/json.js'
import type { Json } from '../../api/json.js'

/** How JSON is written: on one line with a space behind `,` and `:`, unless told. */
export interface JsonForm {
  /** A line for each member, two spaces for each level. */
  readonly indented?: boolean
  /** Names in the order of their UTF-16 units instead of the caller's. */
  readonly sortedKeys?: boolean
}

/**
 * A string as it is, anything else as JSON.
 *
 * @example
 * ```ts
 * templateText({ b: [1, 2], a: null }, {}) // '{"b": [1, 2], "a": null}'
 * ```
 */
export function templateText(value: Json, form: JsonForm): string {
  return typeof value === 'string' ? value : write(value, form, '\n')
}

/** @param lineBreak - And the spaces of the level that the value stands on. */
function write(value: Json, form: JsonForm, lineBreak: string): string {
  const inner = `${lineBreak}  `
  if (Array.isArray(value)) {
    return wrap(
      '[]',
      value.map((item) => write(item, form, inner)),
      form,
      lineBreak,
    )
  }
  if (!isJsonObject(value)) return stringifyJson(value)
  const entries = entriesOf(value).filter(([, member]) => member !== undefined)
  if (form.sortedKeys) entries.sort(([a], [b]) => (a < b ? -1 : 1))
  const members = entries.map(
    ([name, member]) => `${JSON.stringify(name)}: ${write(member, form, inner)}`,
  )
  return wrap('{}', members, form, lineBreak)
}

function wrap(
  brackets: '[]' | '{}',
  items: readonly string[],
  { indented }: JsonForm,
  lineBreak: string,
): string {
  if (items.length === 0) return brackets
  const [open, close] = brackets
  return indented
    ? `${open}${lineBreak}  ${items.join(`,${lineBreak}  `)}${lineBreak}${close}`
    : `${open}${items.join(', ')}${close}`
}

/**
 * A JSON value with another value at one place; the original stays as it is.
 *
 * @module
 */

import { entriesOf, objectFromEntries } from '../api/json.js'
import type { Json, JsonObject } from '../api/json.js'

/** A name or an index. */
export type Step = string | number

/** @param path - Leads to something; the empty one to the value itself. */
export function replaceAt(value: Json, path: readonly Step[], replacement: Json): Json {
  const [step, ...rest] = path
  if (step === undefined) return replacement
  if (Array.isArray(value)) {
    return value.with(step as number, replaceAt(value[step as number]!, rest, replacement))
  }
  return objectFromEntries(
    entriesOf(value as JsonObject).map(([name, member]) => [
      name,
      name === step ? replaceAt(member, rest, replacement) : member,
    ]),
  )
}

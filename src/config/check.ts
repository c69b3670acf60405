/**
 * Checks the settings of one source against a schema: names first, then values.
 *
 * @module
 */

import type Type from 'typebox'
import { faultOf } from '../api/schema-fault.js'
import { nearestOf } from '../api/words.js'
import { OiError } from '../errors.js'

export type Values = Readonly<Record<string, unknown>>

/**
 * Checks values whose names are known.
 *
 * @param placeOf - Where a value was given, for messages: `--port`, `oi.json: port`.
 * @throws {@link OiError} `ERR_CONFIG` naming a wrong value and what is expected.
 */
export function checkValues(
  schema: Type.TObject,
  values: Values,
  placeOf: (name: string) => string,
): void {
  const fault = faultOf(schema, values)
  if (fault === undefined) return
  const [name = ''] = fault.steps
  const { expected, secret } = schema.properties[name] as { expected?: string; secret?: boolean }
  const got = name in values ? JSON.stringify(secret ? '…' : values[name]) : 'nothing'
  throw new OiError('ERR_CONFIG', `${placeOf(name)}: expected ${expected}, got ${got}`)
}

/**
 * @param source - Where the name was read, with the separator before the message.
 * @throws {@link OiError} `ERR_CONFIG` with the nearest known name, if this name is unknown.
 */
export function requireKnown(name: string, known: readonly string[], source = ''): void {
  if (!known.includes(name)) throw new OiError('ERR_CONFIG', unknownText(name, known, source))
}

/** Says that a name is unknown. @param source - As for {@link requireKnown}. */
export function unknownText(name: string, known: readonly string[], source = ''): string {
  const start = source === '' ? 'Unknown' : `${source}unknown`
  return `${start} setting ${name}: did you mean ${nearestOf(name, known)}?`
}

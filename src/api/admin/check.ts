/**
 * Checks requests of the admin API against the table of its operations.
 *
 * Rules
 *   1. Every message starts with the place and then names the rule; `param` is the place.
 *   2. Wrong bodies are `ERR_BODY_INVALID` (422), wrong queries `ERR_REQUEST_UNACCEPTABLE` (400).
 *   3. Only the text of numbers in a query is coerced; unknown names are refused.
 *
 * @module
 */

import type Type from 'typebox'
import { type ErrorCode, OiError } from '../../errors.js'
import { duplicateKeyOf, type Json, parseJson, RawNumber } from '../json.js'
import { failure, shortened } from '../place.js'
import { faultOf, wordsOf } from '../schema-fault.js'
import { readTime, timeExample } from '../times.js'
import { nearestOf } from '../words.js'
import {
  type AdminOperation,
  type AdminOperationId,
  adminOperations,
  type BodyOf,
  type QueryOf,
} from './operations.js'

/**
 * Reads the body of an operation.
 *
 * @param text - Decoded UTF-8.
 * @throws {@link OiError} `ERR_BODY_INVALID`.
 */
export function readAdminBody<Id extends AdminOperationId>(id: Id, text: string): BodyOf<Id> {
  const { body: schema }: AdminOperation = adminOperations[id]
  if (schema === undefined) return undefined as BodyOf<Id>
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new OiError('ERR_BODY_INVALID', 'body: expected JSON', { cause })
  }
  requireOnce(parseJson(text), '')
  requireShape('ERR_BODY_INVALID', schema, value)
  return value as BodyOf<Id>
}

/** If a name is repeated, nobody could tell which value was meant. */
function requireOnce(value: Json, place: string): void {
  if (typeof value !== 'object' || value === null || value instanceof RawNumber) return
  const inner = (name: string) => (place === '' ? name : `${place}.${name}`)
  const twice = duplicateKeyOf(value)
  if (twice !== undefined) {
    throw failure('ERR_BODY_INVALID', inner(twice), 'expected it once, got it twice')
  }
  for (const [name, member] of Object.entries(value)) requireOnce(member, inner(name))
}

/**
 * Reads the query parameters of an operation.
 *
 * @param query - Without the `?`.
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE`.
 */
export function readAdminQuery<Id extends AdminOperationId>(id: Id, query: string): QueryOf<Id> {
  const { query: fields = {} }: AdminOperation = adminOperations[id]
  const values: Record<string, unknown> = {}
  for (const [name, text] of new URLSearchParams(query)) {
    const schema = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (schema === undefined) throw unknown('ERR_REQUEST_UNACCEPTABLE', '', name, fields)
    if (Object.hasOwn(values, name)) {
      throw failure('ERR_REQUEST_UNACCEPTABLE', name, 'expected it once, got it twice')
    }
    const isNumber = (schema as { type?: string }).type === 'integer'
    const value = isNumber && /^\d{1,16}$/.test(text) ? Number(text) : text
    requireShape('ERR_REQUEST_UNACCEPTABLE', schema, value, name)
    values[name] = value
  }
  return values as QueryOf<Id>
}

/**
 * A point in time, or a day alone.
 *
 * @returns Milliseconds since 1970.
 * @throws {@link OiError} With this code, if it is not one.
 */
export function requireTime(code: ErrorCode, place: string, text: string): number {
  const ms = readTime(text)
  if (ms !== undefined) return ms
  const got = JSON.stringify(shortened(text))
  throw failure(code, place, `expected a time as ${timeExample}, got ${got}`)
}

/** @throws {@link OiError} With this code, if the value does not have the schema's form. */
export function readAs<T extends Type.TSchema>(code: ErrorCode, schema: T, value: unknown) {
  requireShape(code, schema, value)
  return value as Type.Static<T>
}

function requireShape(code: ErrorCode, schema: object, value: unknown, parent = ''): void {
  const fault = faultOf(schema, value)
  if (fault === undefined) return
  const placeOf = (steps: readonly string[]) =>
    [parent, ...steps].filter((step) => step !== '').join('.')
  if (fault.isUnknown) {
    const fields = fault.schema.properties ?? {}
    throw unknown(code, placeOf(fault.steps.slice(0, -1)), fault.steps.at(-1)!, fields)
  }
  const rule = `expected ${wordsOf(fault.schema)}, got ${shown(fault.got)}`
  throw failure(code, placeOf(fault.steps), rule)
}

function unknown(code: ErrorCode, place: string, name: string, fields: object): OiError {
  const known = Object.keys(fields)
  const meant = known.length === 0 ? '' : `: did you mean ${nearestOf(name, known)}?`
  const rule = `unknown field ${shortened(name)}${meant}`
  return failure(code, place, rule)
}

/** Describes a value without its content, which may be a secret; numbers as they are. */
function shown(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) {
    return String(value)
  }
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return `a text of ${(value as string).length} characters`
}

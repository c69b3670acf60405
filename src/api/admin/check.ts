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
import { Compile, type Validator } from 'typebox/compile'
import { type ErrorCode, OiError } from '../../errors.js'
import { duplicateKeyOf, type Json, parseJson, RawNumber } from '../json.js'
import { nearestOf } from '../words.js'
import { failure, shortened } from '../place.js'
import {
  type AdminOperation,
  type AdminOperationId,
  adminOperations,
  type BodyOf,
  type QueryOf,
} from './operations.js'

const compiled = new Map<object, Validator>()

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
export function readTime(code: ErrorCode, place: string, text: string): number {
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(
    text,
  )
  const ms = isTime ? Date.parse(text) : NaN
  if (!Number.isNaN(ms)) return ms
  const got = JSON.stringify(shortened(text))
  throw failure(code, place, `expected a time as 2026-01-31T12:00:00Z, got ${got}`)
}

type SchemaError = ReturnType<Validator['Errors']>[number]

function requireShape(code: ErrorCode, schema: object, value: unknown, parent = ''): void {
  let validator = compiled.get(schema)
  if (validator === undefined) {
    validator = Compile(schema as Type.TSchema)
    compiled.set(schema, validator)
  }
  if (validator.Check(value)) return
  // An unknown field has two errors: the one that it may not exist does not give its name.
  const errors = validator.Errors(value).filter((error) => error.keyword !== 'boolean')
  const depth = ({ instancePath }: SchemaError) => instancePath.split('/').length
  const deepest = Math.max(...errors.map(depth))
  // All members of a union report errors: the intended one reports the deepest.
  const found = errors.filter((error) => depth(error) === deepest)
  const { keyword, instancePath, params } =
    found.find((error) => error.keyword === 'additionalProperties') ??
    found.find((error) => error.keyword === 'required') ??
    found.at(-1)!
  const steps = instancePath.split('/').slice(1)
  const place = [parent, ...steps].filter((step) => step !== '').join('.')
  const at = schemaAt(schema, steps)
  const details = params as { additionalProperties?: string[]; requiredProperties?: string[] }
  if (keyword === 'additionalProperties') {
    const fields = (at as { properties?: object }).properties ?? {}
    throw unknown(code, place, details.additionalProperties![0]!, fields)
  }
  if (keyword === 'required') {
    const name = details.requiredProperties![0]!
    const inner = place === '' ? name : `${place}.${name}`
    throw failure(code, inner, `expected ${wordsOf(schemaAt(at, [name]))}, got nothing`)
  }
  const got = steps.reduce<unknown>(
    (inner, step) => (inner as Record<string, unknown>)[step],
    value,
  )
  throw failure(code, place, `expected ${wordsOf(at)}, got ${shown(got)}`)
}

function unknown(code: ErrorCode, place: string, name: string, fields: object): OiError {
  const known = Object.keys(fields)
  const meant = known.length === 0 ? '' : `: did you mean ${nearestOf(name, known)}?`
  const rule = `unknown field ${shortened(name)}${meant}`
  return failure(code, place, rule)
}

interface Part {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Part>>
  readonly items?: Part
  readonly anyOf?: readonly Part[]
  readonly additionalProperties?: Part | boolean
  readonly patternProperties?: Readonly<Record<string, Part>>
  readonly const?: unknown
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

/** The part of a schema for the value at a place; for a union, the member that has it. */
function schemaAt(schema: object, steps: readonly string[]): Part {
  const part = schema as Part
  const [step, ...rest] = steps
  if (step === undefined) return part
  for (const member of part.anyOf ?? [part]) {
    const next =
      member.properties?.[step] ??
      (member.type === 'array' ? member.items : Object.values(member.patternProperties ?? {})[0])
    if (next !== undefined) return schemaAt(next, rest)
  }
  return {}
}

function wordsOf(part: Part): string {
  if (part.anyOf !== undefined) return part.anyOf.map(wordsOf).join(' or ')
  if ('const' in part) return JSON.stringify(part.const)
  const { minLength = 0, maxLength, minimum, maximum } = part
  switch (part.type) {
    case 'string':
      if (part.format === 'date-time') return 'a time as 2026-01-31T12:00:00Z'
      return maxLength === undefined
        ? `a text${minLength > 0 ? ' that is not empty' : ''}`
        : `a text of ${minLength} to ${maxLength} characters`
    case 'integer':
      if (minimum === undefined || maximum === undefined) return 'an integer'
      return maximum === Number.MAX_SAFE_INTEGER
        ? `an integer of at least ${minimum}`
        : `an integer from ${minimum} to ${maximum}`
    case 'null':
      return 'null'
    case 'array':
      return 'an array'
    case 'object':
      return 'an object'
    case undefined:
      return 'another value'
    default:
      return `a ${part.type}`
  }
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

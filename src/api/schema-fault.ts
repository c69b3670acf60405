/**
 * The first fault that a value has by a TypeBox schema, and the words for what was expected.
 *
 * @module
 */

import type Type from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

/** A schema, or a part of one. */
export interface Part {
  readonly type?: string
  /** What messages say instead of the words that follow from the rest. */
  readonly expected?: string
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

export interface Fault {
  /** The names of the place; a missing or unknown field is a place too. */
  readonly steps: readonly string[]
  /** The schema of that place; of an unknown field, the schema of the object around it. */
  readonly schema: Part
  readonly isUnknown: boolean
  /** The value at that place; undefined if it is missing. */
  readonly got: unknown
}

type SchemaError = ReturnType<Validator['Errors']>[number]

const compiled = new Map<object, Validator>()

/** Undefined if the value is as the schema says. */
export function faultOf(schema: object, value: unknown): Fault | undefined {
  let validator = compiled.get(schema)
  if (validator === undefined) {
    validator = Compile(schema as Type.TSchema)
    compiled.set(schema, validator)
  }
  if (validator.Check(value)) return undefined
  const { keyword, instancePath, params } = foremost(validator.Errors(value))
  const around = instancePath.split('/').slice(1)
  const names = params as { additionalProperties?: string[]; requiredProperties?: string[] }
  const isUnknown = keyword === 'additionalProperties'
  const inner = isUnknown
    ? names.additionalProperties![0]!
    : keyword === 'required' && names.requiredProperties![0]!
  const steps = inner === false ? around : [...around, inner]
  const got = steps.reduce<unknown>((part, step) => (part as Record<string, unknown>)[step], value)
  return { steps, schema: schemaAt(schema, isUnknown ? around : steps), isUnknown, got }
}

/** Every member of a union complains: the member that was meant does so deepest. */
function foremost(all: readonly SchemaError[]): SchemaError {
  // An unknown field has two errors: the one of its `false` schema does not name it.
  const errors = all.filter((error) => error.keyword !== 'boolean')
  const depth = ({ instancePath }: SchemaError) => instancePath.split('/').length
  const deepest = Math.max(...errors.map(depth))
  const found = errors.filter((error) => depth(error) === deepest)
  return (
    found.find((error) => error.keyword === 'additionalProperties') ??
    found.find((error) => error.keyword === 'required') ??
    found.at(-1)!
  )
}

/** The part of a schema for a place; of a union, the part of the member that has the place. */
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

/** What a schema expects: `an integer from 1 to 9`. */
export function wordsOf(part: Part): string {
  if (part.expected !== undefined) return part.expected
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

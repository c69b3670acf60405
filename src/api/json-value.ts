/**
 * JSON values that keep what `JSON.parse` loses: the order of integer-like keys, the exact text of
 * numbers, and the fact that a key was repeated.
 *
 * Rules
 *   1. A parsed object is a plain object. It carries the order of its keys, under a private,
 *      non-enumerable symbol, only when JavaScript would reorder them or take long to list them: a
 *      spread copy does not inherit an order that may no longer fit.
 *   2. `__proto__` is a name like any other: it is always defined, never assigned.
 *   3. Read objects with `entriesOf` and `keysOf`, build them with `objectFromEntries`, write them
 *      with `stringifyJson`; an object made by other means has its keys' JavaScript order.
 *
 * Import these from json.ts, which adds the reader.
 *
 * @module
 */

import { OiError } from '../errors.js'

export type Json = null | boolean | number | string | RawNumber | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

/** The maximum nesting; `[[1]]` has depth 2. */
export const maxDepth = 64

/**
 * A number that JavaScript would print differently, such as `1.0`, `1e400` or
 * `12345678901234567890`. Has no enumerable properties; `valueOf()` is the nearest double.
 */
export class RawNumber {
  readonly #literal: string

  /** @param literal - A number in JSON's grammar. */
  constructor(literal: string) {
    this.#literal = literal
  }

  valueOf(): number {
    return Number(this.#literal)
  }

  toString(): string {
    return this.#literal
  }

  /** For `JSON.stringify`, which can only write the nearest double. */
  toJSON(): number {
    return this.valueOf()
  }
}

/** True for objects, false for arrays, `null` and {@link RawNumber}. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof RawNumber)
  )
}

/** A member of an object; undefined if it is none, or has no such member. */
export function member(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

const keyOrder = Symbol('key order')
const duplicateKey = Symbol('duplicate key')

interface Marked {
  [keyOrder]?: string[]
  [duplicateKey]?: string
}

/** Containers read from at least this many UTF-16 units are worked on in steps. */
const largeText = 65_536
const large = new WeakSet<object>()

/** Notes the length of the text that a container was read from, if it is long. */
export function noteLength(container: object, length: number): void {
  if (length >= largeText) large.add(container)
}

/** Whether the value is a container read from so much text that work on it must be in steps. */
export function isLarge(value: unknown): boolean {
  return typeof value === 'object' && value !== null && large.has(value)
}

const shared = new WeakSet<object>()

/** Notes that several requests share this container; none may change it. */
export function noteShared(container: object): void {
  shared.add(container)
}

/** Whether several requests share it, so that results computed from it are worth keeping. */
export function isShared(container: object): boolean {
  return shared.has(container)
}

/** JavaScript takes ever longer to list an object's names: this many take some tens of µs. */
const manyNames = 1024

/** Collects the entries of one object in order. */
export class ObjectBuilder {
  readonly #object: JsonObject = {}
  #order: string[] | undefined
  #count = 0
  #duplicate: string | undefined

  set(key: string, value: Json): void {
    const object = this.#object
    if (Object.hasOwn(object, key)) {
      this.#duplicate ??= key
    } else if (this.#order !== undefined) {
      this.#order.push(key)
    } else if (++this.#count > manyNames || isIntegerLike(key)) {
      this.#order = [...Object.keys(object), key]
    }
    if (key === '__proto__') define(object, key, value, true)
    else object[key] = value
  }

  finish(): JsonObject {
    const object = this.#object
    if (this.#order !== undefined) define(object, keyOrder, this.#order, false)
    if (this.#duplicate !== undefined) define(object, duplicateKey, this.#duplicate, false)
    return object
  }
}

/** The names that JavaScript sorts before all others: canonical array indices. */
function isIntegerLike(key: string): boolean {
  const first = key.charCodeAt(0)
  if (!(first >= 48 && first <= 57) || key.length > 10) return false
  return String(Number(key) >>> 0) === key
}

function define(object: object, key: PropertyKey, value: unknown, enumerable: boolean): void {
  Object.defineProperty(object, key, { value, enumerable, writable: true, configurable: true })
}

/** Names of an object in the order of its text. */
export function keysOf(object: object): readonly string[] {
  return (object as Marked)[keyOrder] ?? Object.keys(object)
}

/** Names and values of an object in the order of its text. */
export function entriesOf<V>(object: Readonly<Record<string, V>>): [string, V][] {
  return keysOf(object).map((key) => [key, object[key] as V])
}

/** An object with these entries in this order; of a repeated name the last value counts. */
export function objectFromEntries<V>(entries: Iterable<readonly [string, V]>): Record<string, V> {
  const builder = new ObjectBuilder()
  for (const [key, value] of entries) builder.set(key, value as Json)
  return builder.finish() as Record<string, V>
}

/** Whether JavaScript's order of an object's names differs from its text's. */
export function hasOwnOrder(object: object): boolean {
  return (object as Marked)[keyOrder] !== undefined
}

/** The first repeated name of the object's text, or undefined. */
export function duplicateKeyOf(object: object): string | undefined {
  return (object as Marked)[duplicateKey]
}

/**
 * Compact JSON in the text's order, with every number as it was written.
 *
 * Members that are `undefined` are left out, as `JSON.stringify` does.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` for a value nested deeper than {@link maxDepth}, such
 *   as one that contains itself.
 * @example
 * ```ts
 * stringifyJson(parseJson('{"b": 1.0, "2": [], "1": null}')) // '{"b":1.0,"2":[],"1":null}'
 * ```
 */
export function stringifyJson(value: Json | object): string {
  return write(value as Json, 0)
}

function write(value: Json | undefined, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (value === null || value === undefined) return 'null'
  if (value instanceof RawNumber) return value.toString()
  if (depth === maxDepth) {
    throw new OiError('ERR_BODY_INVALID', `expected at most ${maxDepth} levels of nesting`)
  }

  let out = ''
  if (Array.isArray(value)) {
    for (const item of value) out += (out === '' ? '' : ',') + write(item, depth + 1)
    return `[${out}]`
  }
  for (const key of keysOf(value)) {
    const member = value[key]
    if (member === undefined) continue
    out += `${out === '' ? '' : ','}${JSON.stringify(key)}:${write(member, depth + 1)}`
  }
  return `{${out}}`
}

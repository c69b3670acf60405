/**
 * JSON while it is typed: its value, or its mistake. It uses the server's own reader, so that both
 * refuse the same texts, and names keep their order.
 *
 * @module
 */

import { Reader } from '../../api/json-reader.js'
import { entriesOf, isJsonObject, type Json, stringifyJson } from '../../api/json-value.js'
import { shortened } from '../../api/place.js'

export interface Mistake {
  readonly message: string
  /** In UTF-16 units, from 0; undefined if the mistake has no place in the text. */
  readonly at: number | undefined
}

export type Checked =
  | { readonly value: Json; readonly mistake?: undefined }
  | { readonly value?: undefined; readonly mistake: Mistake }

export function checkJson(text: string): Checked {
  if (text.trim() === '') return { mistake: { message: 'The field is empty.', at: 0 } }
  try {
    return { value: readJson(text) }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const match = /^body: (?:not valid JSON: )?(.*?)(?: at position (\d+))?$/s.exec(said)
    const at = match?.[2] === undefined ? undefined : Number(match[2])
    return { mistake: { message: `${where(text, at)}${match?.[1] ?? said}`, at } }
  }
}

/** @throws The errors of the server's reader. */
export function readJson(text: string): Json {
  const reader = new Reader(text)
  reader.read(Infinity)
  return reader.result
}

function where(text: string, at: number | undefined): string {
  if (at === undefined) return ''
  const before = text.slice(0, at).split('\n')
  return `Line ${before.length}, column ${before.at(-1)!.length + 1}: `
}

/** JSON over several lines, with the order and the numbers of the text. */
export function prettyJson(value: Json, indent = ''): string {
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    const items = value.map((item) => inner + prettyJson(item, inner))
    return `[\n${items.join(',\n')}\n${indent}]`
  }
  if (!isJsonObject(value)) return stringifyJson(value)
  const entries = entriesOf(value)
  if (entries.length === 0) return '{}'
  const members = entries.map(
    ([name, member]) => `${inner}${JSON.stringify(name)}: ${prettyJson(member, inner)}`,
  )
  return `{\n${members.join(',\n')}\n${indent}}`
}

/**
 * The steps of a place as errors name it: `questions["a b"].criteria[0]` is
 * `['questions', 'a b', 'criteria', 0]`.
 */
export function stepsOf(place: string): (string | number)[] {
  const steps: (string | number)[] = []
  const step = /\.?([A-Za-z_$][A-Za-z0-9_$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y
  while (step.lastIndex < place.length) {
    const match = step.exec(place)
    if (match === null) break
    if (match[1] !== undefined) steps.push(match[1])
    else if (match[2] !== undefined) steps.push(Number(match[2]))
    else steps.push(JSON.parse(match[3]!) as string)
  }
  return steps
}

/**
 * Where a value stands in a text.
 *
 * @param text - Valid JSON.
 * @param steps - As {@link stepsOf} gives them. Unknown steps are ignored.
 */
export function positionOf(text: string, steps: readonly (string | number)[]): number {
  let at = skipSpace(text, 0)
  for (const step of steps) {
    const next = memberAt(text, at, step)
    if (next === undefined) break
    at = next
  }
  return at
}

function memberAt(text: string, at: number, step: string | number): number | undefined {
  const isObject = text[at] === '{'
  if (!isObject && text[at] !== '[') return undefined
  const end = isObject ? '}' : ']'
  at = skipSpace(text, at + 1)
  for (let index = 0; at < text.length && text[at] !== end; index++) {
    let name: string | number = index
    if (isObject) {
      const close = skipValue(text, at)
      name = JSON.parse(text.slice(at, close)) as string
      at = skipSpace(text, skipSpace(text, close) + 1)
    }
    if (name === step || (typeof name === 'string' && shortened(name) === step)) return at
    at = skipSpace(text, skipValue(text, at))
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return undefined
}

const space = /\s*/y
const string = /"(?:[^"\\]|\\.)*"/y
const scalar = /[^\s,\]}]+/y

const skipSpace = (text: string, at: number): number => behind(space, text, at)

function skipValue(text: string, at: number): number {
  if (text[at] === '"') return behind(string, text, at)
  if (text[at] !== '{' && text[at] !== '[') return behind(scalar, text, at)
  for (let depth = 0; at < text.length;) {
    const c = text[at]
    if (c === '"') {
      at = behind(string, text, at)
      continue
    }
    if (c === '{' || c === '[') depth++
    if (c === '}' || c === ']') depth--
    at++
    if (depth === 0) break
  }
  return at
}

function behind(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at + 1
}

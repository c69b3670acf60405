/**
 * Reads the `input` of `POST /v1/decisions`, a text or a conversation, as a state.
 *
 * Rules
 *   1. Everything with a meaning is kept, in its order: texts, images, data, roles, tool calls and
 *      their outputs. Packaging is not: a single user message is its content, and parts that are
 *      all text are one text, a line each.
 *   2. For everything in the state, its place in the input is noted.
 *   3. An output of a tool stands behind its call.
 *
 * @module
 */

import { isJsonObject, type Json, type JsonObject } from '../json.js'
import { failure, itemOf, placeOf, shortened } from '../place.js'
import { describe } from '../read-request.js'
import { requireUnique } from '../unique.js'

/** A place in the translated request, and the same place in the body. */
export type Moved = readonly [to: string, from: string]

/** @throws `OiError` `ERR_BODY_INVALID`, `ERR_REQUEST_UNACCEPTABLE`. */
export function readInput(input: Json | undefined, moved: Moved[]): Json {
  if (typeof input === 'string') return input
  if (!Array.isArray(input) || input.length === 0)
    throw malformed('input', 'a text or a list of items', input)
  const [first] = input
  if (input.length === 1 && isJsonObject(first) && first['role'] === 'user') {
    requireUnique(first, 'input[0]')
    return contentOf(first, 'content', 'state', 'input[0]', moved)
  }
  const called = new Set<string>()
  return input.map((item, i) =>
    itemAsState(item, itemOf('state', i), itemOf('input', i), moved, called),
  )
}

/** @param called - The `call_id` of each call so far; an item that is one adds its own. */
function itemAsState(
  item: Json,
  to: string,
  from: string,
  moved: Moved[],
  called: Set<string>,
): Json {
  requireObject(item, from)
  const type = item['type'] ?? 'message'
  const text = (name: string) => textOf(item[name], placeOf(from, name))
  const content = (name: string) => contentOf(item, name, placeOf(to, name), from, moved)
  if (type === 'message') {
    return { role: roleOf(item['role'], placeOf(from, 'role')), content: content('content') }
  }
  if (type === 'function_call' || type === 'custom_tool_call') called.add(text('call_id'))
  if (type === 'function_call') {
    return { type, call_id: text('call_id'), name: text('name'), arguments: text('arguments') }
  }
  if (type === 'custom_tool_call') {
    return { type, call_id: text('call_id'), name: text('name'), input: text('input') }
  }
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    const id = text('call_id')
    if (!called.has(id)) throw other(placeOf(from, 'call_id'), 'that of a call before it', id)
    return { type, call_id: id, output: content('output') }
  }
  throw other(placeOf(from, 'type'), 'a message, a call of a tool or its output', type)
}

const roles = ['user', 'developer', 'system', 'assistant']

function roleOf(role: Json | undefined, place: string): string {
  if (typeof role === 'string' && roles.includes(role)) return role
  throw typeof role === 'string'
    ? other(place, roles.join(', '), role)
    : malformed(place, roles.join(', '), role)
}

function contentOf(item: JsonObject, name: string, to: string, from: string, moved: Moved[]): Json {
  const content = item[name]
  const place = placeOf(from, name)
  moved.push([to, place])
  if (typeof content === 'string') return content
  const parts = readParts(content, place)
  const only = parts.length === 1
  const read = parts.map(({ value, place: at }, i) => {
    moved.push([only ? to : itemOf(to, i), at])
    return value
  })
  return joined(read)
}

interface Part {
  readonly value: Json
  readonly place: string
}

/**
 * Reads the parts of a content or of instructions.
 *
 * @param noImages - Why images are not allowed.
 */
export function readParts(content: Json | undefined, place: string, noImages = ''): Part[] {
  if (!Array.isArray(content) || content.length === 0) {
    throw malformed(place, 'a text or a list of parts', content)
  }
  return content.map((part, i) => {
    const at = itemOf(place, i)
    requireObject(part, at)
    const member = (name: string): Part => {
      const inside = placeOf(at, name)
      return { value: textOf(part[name], inside), place: inside }
    }
    const type = part['type']
    if (type === 'input_text' || type === 'output_text') return member('text')
    if (type === 'refusal') return { value: { refusal: member('refusal').value }, place: at }
    if (type === 'input_json') {
      const data = part['data']
      if (data === undefined) throw malformed(placeOf(at, 'data'), 'data', data)
      return { value: data, place: placeOf(at, 'data') }
    }
    if (type !== 'input_image') {
      throw other(placeOf(at, 'type'), 'input_text, input_image or input_json', type)
    }
    if (noImages !== '') throw other(placeOf(at, 'type'), noImages, type)
    return { value: { type, image_url: member('image_url').value }, place: at }
  })
}

/** Joins parts to one value. */
export function joined(parts: readonly Json[]): Json {
  if (parts.length === 1) return parts[0]!
  return parts.every((part) => typeof part === 'string') ? parts.join('\n') : [...parts]
}

/** @throws `OiError` `ERR_BODY_INVALID` for anything but an object with each name once. */
export function requireObject(value: Json | undefined, place: string): asserts value is JsonObject {
  if (!isJsonObject(value)) throw malformed(place, 'an object', value)
  requireUnique(value, place)
}

/** @throws `OiError` `ERR_BODY_INVALID`. */
export function textOf(value: Json | undefined, place: string): string {
  if (typeof value === 'string') return value
  throw malformed(place, 'a string', value)
}

export function malformed(place: string, wanted: string, got: Json | undefined) {
  return failure('ERR_BODY_INVALID', place, `expected ${wanted}, got ${describe(got)}`)
}

/** The right shape, but unknown here. */
export function other(place: string, wanted: string, got: Json | undefined) {
  if (typeof got !== 'string') return malformed(place, wanted, got)
  const rule = `expected ${wanted}, got ${JSON.stringify(shortened(got))}`
  return failure('ERR_REQUEST_UNACCEPTABLE', place, rule)
}

/**
 * Where the first image of a request stands, for models that see none.
 *
 * Rules
 *   1. An image is what clients send as one: the block `{"type":"image","source":{…}}`,
 *      `{"type":"image_url","image_url":…}` and `{"image":{"url":"data:…"}}` anywhere in the
 *      state, and a list under `images` beside it.
 *   2. Data that only speaks of images is data: a key `image` or `images` in the state with
 *      anything else behind it, or `"type":"image"` without a source.
 *   3. A remote address under `{"image":{"url":…}}` is an image only if nothing stands beside it:
 *      descriptions of goods and pages have such members.
 *
 * @module
 */

import { entriesOf, isJsonObject, maxDepth } from '../api/json.js'
import type { Json, JsonObject } from '../api/json.js'
import { itemOf, placeOf } from '../api/place.js'
import { OiError } from '../errors.js'

/**
 * The place of the first image, as `state.photo` or `images`, or undefined.
 *
 * @param request - `images` as it came, of any type.
 * @throws {@link OiError} `ERR_BODY_INVALID` for a state nested deeper than {@link maxDepth}, as
 *   one that contains itself is.
 * @example
 * ```ts
 * findImage({ state: [{ type: 'image', source: { type: 'base64', data: '' } }] }) // 'state[0]'
 * findImage({ state: { image: 'a cat' } }) // undefined
 * ```
 */
export function findImage(request: { state: Json; images?: unknown }): string | undefined {
  const { state, images } = request
  if (Array.isArray(images) && images.length > 0) return 'images'
  // Turned around, as it was put together on the way back from the image.
  return imageIn(state, 0)
    ?.reverse()
    .reduce<string>(
      (place, step) => (typeof step === 'number' ? itemOf(place, step) : placeOf(place, step)),
      'state',
    )
}

/** Names and indices, the innermost first; no place is written down before one is found. */
type Path = (string | number)[]

function imageIn(value: Json, depth: number): Path | undefined {
  const list = Array.isArray(value)
  if (!list && !isJsonObject(value)) return undefined
  if (depth === maxDepth) {
    const rule = `expected at most ${maxDepth} levels of nesting`
    throw new OiError('ERR_BODY_INVALID', `state: ${rule}`, { param: 'state' })
  }
  if (!list && isImage(value)) return []

  const members: Iterable<[string | number, Json]> = list ? value.entries() : entriesOf(value)
  for (const [step, member] of members) {
    const path = imageIn(member, depth + 1)
    if (path === undefined) continue
    path.push(step)
    return path
  }
  return undefined
}

function isImage(object: JsonObject): boolean {
  const { type, source, image_url: linked, image } = object
  if (type === 'image') return isJsonObject(source)
  if (type === 'image_url') return typeof linked === 'string' || isJsonObject(linked)
  if (!isJsonObject(image) || typeof image['url'] !== 'string') return false
  return /^data:/i.test(image['url']) || Object.keys(object).length === 1
}

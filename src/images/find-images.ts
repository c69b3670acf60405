/**
 * Where the images of a request stand. The one rule for what an image is, whether the model sees
 * images or refuses them.
 *
 * Rules
 *   1. An image is what clients send as one: the block `{"type":"image","source":{…}}`,
 *      `{"type":"image_url","image_url":…}` and `{"image":{"url":"data:…"}}` anywhere in the
 *      state, and a list under `images` beside it.
 *   2. Data that only speaks of images is data: a key `image` or `images` in the state with
 *      anything else behind it, or `"type":"image"` without a source.
 *   3. A remote address under `{"image":{"url":…}}` is an image only if nothing stands beside it:
 *      descriptions of goods and pages have such members.
 *   4. A block is nothing but its picture: other members of it are not looked at. Beside a member
 *      `image` there may be more, as it is only one member of an object of the caller's own.
 *
 * @module
 */

import { isJsonObject, keysOf, maxDepth, RawNumber } from '../api/json.js'
import type { Json, JsonObject } from '../api/json.js'
import { itemOf, placeOf } from '../api/place.js'
import { malformed } from './refusal.js'

export type FoundImage =
  | {
      /** Which of the forms of rule 1. */
      readonly form: 'source' | 'image_url' | 'image'
      /** Where the block stands, or the object with the member `image`: `state.photo`. */
      readonly place: string
      /** What the picture replaces: the block, or the value of the member `image`. */
      readonly block: JsonObject
    }
  | {
      readonly form: 'listed'
      /** As `images[0]`. */
      readonly place: string
      readonly value: unknown
    }

/** What is looked at; `images` as it came, of any type. */
export interface ImageRequest {
  readonly state: Json
  readonly images?: unknown
}

/**
 * The place of the first image, as `state.photo` or `images`, or undefined.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` for a state nested deeper than {@link maxDepth}, as
 *   one that contains itself is.
 * @example
 * ```ts
 * findImage({ state: [{ type: 'image', source: { type: 'base64', data: '' } }] }) // 'state[0]'
 * findImage({ state: { image: 'a cat' } }) // undefined
 * ```
 */
export function findImage({ state, images }: ImageRequest): string | undefined {
  if (Array.isArray(images) && images.length > 0) return 'images'
  return new Search(1).of(state)[0]?.place
}

/**
 * All images in the order in which the model sees them: those beside the state, then those in it.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` as {@link findImage}, and for `images` that is
 *   neither a list nor `null`.
 */
export function findImages({ state, images }: ImageRequest): FoundImage[] {
  const found = new Search(Infinity).of(state)
  if (images === undefined || images === null) return found
  if (!Array.isArray(images)) throw malformed('images', 'expected a list of data URLs')
  const listed = images.map((value: unknown, i) => {
    return { form: 'listed', place: itemOf('images', i), value } as const
  })
  return [...listed, ...found]
}

class Search {
  readonly #most: number
  readonly #found: FoundImage[] = []
  /** Names and indices from the state down; no place is written down before one is found. */
  readonly #path: (string | number)[] = []

  /** @param most - Images after which it ends. */
  constructor(most: number) {
    this.#most = most
  }

  of(state: Json): FoundImage[] {
    this.#visit(state, 0)
    return this.#found
  }

  #visit(value: Json, depth: number): void {
    if (typeof value !== 'object' || value === null || value instanceof RawNumber) return
    if (depth === maxDepth) {
      throw malformed('state', `expected at most ${maxDepth} levels of nesting`)
    }
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length && this.#wantsMore(); i++) this.#enter(i, value[i]!, depth)
      return
    }
    const form = formOf(value)
    if (form === 'source' || form === 'image_url') {
      this.#add(form, value)
      return
    }
    for (const name of keysOf(value)) {
      if (!this.#wantsMore()) return
      if (form === 'image' && name === 'image') this.#add(form, value[name] as JsonObject)
      else this.#enter(name, value[name]!, depth)
    }
  }

  #enter(step: string | number, member: Json, depth: number): void {
    if (typeof member !== 'object') return
    this.#path.push(step)
    this.#visit(member, depth + 1)
    this.#path.pop()
  }

  #wantsMore(): boolean {
    return this.#found.length < this.#most
  }

  #add(form: 'source' | 'image_url' | 'image', block: JsonObject): void {
    const place = this.#path.reduce<string>(
      (parent, step) => (typeof step === 'number' ? itemOf(parent, step) : placeOf(parent, step)),
      'state',
    )
    this.#found.push({ form, place, block })
  }
}

function formOf(object: JsonObject): 'source' | 'image_url' | 'image' | undefined {
  const { type, source, image_url: linked, image } = object
  if (type === 'image' && isJsonObject(source)) return 'source'
  if (type === 'image_url' && (typeof linked === 'string' || isJsonObject(linked))) {
    return 'image_url'
  }
  if (!isJsonObject(image) || typeof image['url'] !== 'string') return undefined
  return /^data:/i.test(image['url']) || Object.keys(object).length === 1 ? 'image' : undefined
}

/**
 * Finds the images of a request. The one rule for what an image is, whether the model reads images
 * or refuses them.
 *
 * Rules
 *   1. These are images: in the state, a block of any form of image-forms.ts, a text that is
 *      entirely `data:image/…`, and base64 of an image under `image` or `images`; beside the state,
 *      `image`, `images` and `assets`.
 *   2. Data that only mention images are data: a key `image` or `images` in the state with another
 *      value, or `"type":"image"` without a source.
 *   3. Other media are refused where they stand.
 *   4. A block is only its image: its other members are ignored. A member `image` may have other
 *      members beside it, as it is only one member of the caller's own object.
 *
 * @module
 */

import {
  entriesOf,
  type Json,
  type JsonObject,
  keysOf,
  maxDepth,
  objectFromEntries,
  RawNumber,
} from '../api/json.js'
import { itemOf, placeOf } from '../api/place.js'
import { imageLimits } from './limits.js'
import { type BlockForm, formOf, isBareImage, isImageUrl } from './image-forms.js'
import { mediaOf, mediaOfUrl } from './other-media.js'
import { malformed, unacceptable } from './refusal.js'

interface Found {
  /** Its place: `state.photo`, `images[0]`, `assets.photo`. */
  readonly place: string
  /** The objects that it replaces in the state; empty for an image before the state. */
  readonly blocks: readonly JsonObject[]
}

export type FoundImage = Found &
  (
    | { readonly form: BlockForm; readonly value: JsonObject }
    /** A data URL, or base64. */
    | { readonly form: 'text'; readonly value: string }
    /** Of a list beside the state: of any type. */
    | { readonly form: 'listed'; readonly value: unknown }
    | {
        readonly form: 'asset'
        readonly value: JsonObject
        /** The mark that stands for it in texts. */
        readonly mark: string
        /** How often the model sees it, `blocks` included. */
        readonly count: number
      }
  )

/** The searched parts of a request; the members beside the state as they came, of any type. */
interface ImageRequest {
  readonly state: Json
  readonly image?: unknown
  readonly images?: unknown
  readonly assets?: unknown
}

interface FoundImages {
  /** In the order in which the model sees them: those before the state, then those in it. */
  readonly images: readonly FoundImage[]
  /** The state, with every image as an object. */
  readonly state: Json
}

/**
 * The place of the first image, such as `state.photo` or `images`, or undefined.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` for a state nested deeper than {@link maxDepth}, such
 *   as one that contains itself.
 * @example
 * ```ts
 * findImage({ state: [{ type: 'image', source: { type: 'base64', data: '' } }] }) // 'state[0]'
 * findImage({ state: { image: 'a cat' } }) // undefined
 * ```
 */
export function findImage({ state, image, images, assets }: ImageRequest): string | undefined {
  if (isGiven(assets)) return 'assets'
  if (isGiven(image)) return 'image'
  if (isGiven(images)) return 'images'
  return new Search('state', 1).of(state).images[0]?.place
}

/**
 * All images except those of `assets`.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` as {@link findImage}, and for a value beside the state
 *   that cannot be an image.
 */
export function findImages({ state, image, images }: ImageRequest): FoundImages {
  const found = new Search('state', Infinity).of(state)
  const before: FoundImage[] = []
  if (isGiven(image)) before.push({ form: 'listed', place: 'image', value: image, blocks: [] })
  if (Array.isArray(images)) {
    images.forEach((value: unknown, i) => {
      before.push({ form: 'listed', place: itemOf('images', i), value, blocks: [] })
    })
  } else if (isGiven(images)) {
    before.push({ form: 'listed', place: 'images', value: images, blocks: [] })
  }
  return before.length === 0 ? found : { ...found, images: [...before, ...found.images] }
}

/** The place of the first image in a part of a request that may have none. */
export function findImageIn(value: Json, place: string): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'object') return undefined
  return new Search(place, 1).of(value).images[0]?.place
}

/** Whether a value is neither missing nor an empty list. */
export function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  return typeof value !== 'object' || value instanceof RawNumber || Object.keys(value).length > 0
}

class Search {
  readonly #root: string
  readonly #most: number
  readonly #found: FoundImage[] = []
  /**
   * Names and indices from the state down; the place's text is made only when an image is found.
   */
  readonly #path: Step[] = []
  /** Texts that are images, by their paths, and the objects that replace them. */
  readonly #texts: { readonly path: readonly Step[]; readonly block: JsonObject }[] = []

  /**
   * @param root - The place of the searched value. @param most - The number of images at which the
   *   search stops.
   */
  constructor(root: string, most: number) {
    this.#root = root
    this.#most = most
  }

  of(state: Json): FoundImages {
    this.#visit(state, 0)
    // More images than the limit are refused, and need no object.
    const texts = this.#texts.slice(0, imageLimits.maxImages + 1)
    const replaced = texts.reduce((whole, { path, block }) => replaceAt(whole, path, block), state)
    return { images: this.#found, state: replaced }
  }

  #visit(value: Json, depth: number): void {
    if (typeof value === 'string') {
      // The first character rules out most texts: `d` in either case, or white space.
      const first = value.charCodeAt(0) | 32
      const mayBeUrl = first === 100 || first <= 45
      const isImage = mayBeUrl && isImageUrl(value)
      if (mayBeUrl && !isImage) this.#requireNone(mediaOfUrl(value))
      if (isImage || this.#isNamedImage(value)) this.#addText(value.trimStart())
      return
    }
    if (typeof value !== 'object' || value === null || value instanceof RawNumber) return
    if (depth === maxDepth) {
      throw malformed(this.#root, `expected at most ${maxDepth} levels of nesting`)
    }
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length && this.#wantsMore(); i++) this.#enter(i, value[i]!, depth)
      return
    }
    this.#requireNone(mediaOf(value))
    const form = formOf(value)
    if (form !== undefined && form !== 'image') {
      this.#found.push({ form, place: this.#place(), value, blocks: [value] })
      return
    }
    for (const name of keysOf(value)) {
      if (!this.#wantsMore()) return
      const member = value[name]!
      if (form === 'image' && name === 'image') {
        const block = member as JsonObject
        this.#found.push({ form, place: this.#place(), value: block, blocks: [block] })
      } else {
        this.#enter(name, member, depth)
      }
    }
  }

  #enter(step: Step, member: Json, depth: number): void {
    if (typeof member !== 'object' && typeof member !== 'string') return
    this.#path.push(step)
    this.#visit(member, depth + 1)
    this.#path.pop()
  }

  /** @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` (rule 3). */
  #requireNone(media: string | undefined): void {
    if (media === undefined) return
    const rule = `expected text, data or images, got ${media}: other media are not read`
    throw unacceptable(this.#place(), rule)
  }

  #wantsMore(): boolean {
    return this.#found.length < this.#most
  }

  /** Under `image`, or in a list under `images`. */
  #isNamedImage(value: string): boolean {
    const last = this.#path.at(-1)
    const name = typeof last === 'number' ? this.#path.at(-2) : last
    return (name === 'image' || name === 'images') && isBareImage(value)
  }

  #addText(value: string): void {
    const block: JsonObject = {}
    this.#texts.push({ path: [...this.#path], block })
    this.#found.push({ form: 'text', place: this.#place(), value, blocks: [block] })
  }

  #place(): string {
    return this.#path.reduce<string>(
      (parent, step) => (typeof step === 'number' ? itemOf(parent, step) : placeOf(parent, step)),
      this.#root,
    )
  }
}

/** A name or an index. */
type Step = string | number

/**
 * Replaces the value at one place; the original stays as it is.
 *
 * @param path - Leads to an existing value; the empty path to the value itself.
 */
function replaceAt(value: Json, path: readonly Step[], replacement: Json): Json {
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

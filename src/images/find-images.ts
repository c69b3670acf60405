/**
 * Where the images of a request stand. The one rule for what an image is, whether the model sees
 * images or refuses them.
 *
 * Rules
 *   1. An image is what clients send as one: a block of any of the forms of picture-forms.ts
 *      anywhere in the state, a text that is wholly `data:image/…` there, base64 of a picture under
 *      `image` or `images` there; and beside the state `image`, `images` and `assets`.
 *   2. Data that only speaks of images is data: a key `image` or `images` in the state with
 *      anything else behind it, or `"type":"image"` without a source.
 *   3. A block is nothing but its picture: other members of it are not looked at. Beside a member
 *      `image` there may be more, as it is only one member of an object of the caller's own.
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
import { type BlockForm, formOf, isBarePicture, isPictureUrl } from './picture-forms.js'
import { malformed } from './refusal.js'

interface Found {
  /** Where it stands: `state.photo`, `images[0]`, `assets.photo`. */
  readonly place: string
  /** What it replaces in the state; empty for one that stands before it. */
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
        /** What stands for it in texts. */
        readonly mark: string
        /** How often it stands there, `blocks` included. */
        readonly count: number
      }
  )

/** What is looked at; what stands beside the state as it came, of any type. */
export interface ImageRequest {
  readonly state: Json
  readonly image?: unknown
  readonly images?: unknown
  readonly assets?: unknown
}

export interface FoundImages {
  /** In the order in which the model sees them: those beside the state, then those in it. */
  readonly images: readonly FoundImage[]
  /** The state, in which every image is an object. */
  readonly state: Json
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
export function findImage({ state, image, images, assets }: ImageRequest): string | undefined {
  if (isGiven(assets)) return 'assets'
  if (isGiven(image)) return 'image'
  if (isGiven(images)) return 'images'
  return new Search('state', 1).of(state).images[0]?.place
}

/**
 * All images but those of `assets`.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` as {@link findImage}, and for what stands beside the
 *   state and can be no image.
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

/** The place of the first image in a part of a request that can hold none. */
export function findImageIn(value: Json, place: string): string | undefined {
  if (typeof value === 'string') return isPictureUrl(value) ? place : undefined
  return typeof value === 'object' ? new Search(place, 1).of(value).images[0]?.place : undefined
}

/** Whether there is anything: neither nothing nor an empty list. */
export function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  return typeof value !== 'object' || value instanceof RawNumber || Object.keys(value).length > 0
}

class Search {
  readonly #root: string
  readonly #most: number
  readonly #found: FoundImage[] = []
  /** Names and indices from the state down; no place is written down before one is found. */
  readonly #path: Step[] = []
  /** Texts that are images, by their ways, and the objects that take their places. */
  readonly #texts: { readonly path: readonly Step[]; readonly block: JsonObject }[] = []

  /** @param root - The place of what is searched. @param most - Images after which it ends. */
  constructor(root: string, most: number) {
    this.#root = root
    this.#most = most
  }

  of(state: Json): FoundImages {
    this.#visit(state, 0)
    // More than may be are refused, and need no place.
    const texts = this.#texts.slice(0, imageLimits.maxImages + 1)
    const replaced = texts.reduce((whole, { path, block }) => replaceAt(whole, path, block), state)
    return { images: this.#found, state: replaced }
  }

  #visit(value: Json, depth: number): void {
    if (typeof value === 'string') {
      // Most texts are told apart by their first letter: `d`, in small, or a blank and its like.
      const first = value.charCodeAt(0) | 32
      const isPicture = (first === 100 || first <= 45) && isPictureUrl(value)
      if (isPicture || this.#isNamedPicture(value)) this.#addText(value.trimStart())
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

  #wantsMore(): boolean {
    return this.#found.length < this.#most
  }

  /** Under `image`, or in a list under `images`. */
  #isNamedPicture(value: string): boolean {
    const last = this.#path.at(-1)
    const name = typeof last === 'number' ? this.#path.at(-2) : last
    return (name === 'image' || name === 'images') && isBarePicture(value)
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
 * A JSON value with another value at one place; the original stays as it is.
 *
 * @param path - Leads to something; the empty one to the value itself.
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

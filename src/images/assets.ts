/**
 * Images that are sent once and named in texts: `assets`, by their references.
 *
 * Rules
 *   1. A reference is plain text. Wherever it stands in the state, in instructions and in criteria,
 *      names of members and options included, the model sees the image there; of two references
 *      with the same beginning, the longer one counts.
 *   2. A text of the state that is exactly a reference is an image block. In other texts a mark
 *      replaces the reference until the prompt is made; no caller can know or guess a mark.
 *   3. An image that no text names is a mistake, and refused.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { entriesOf, isJsonObject, maxDepth, objectFromEntries, RawNumber } from '../api/json.js'
import type { Json, JsonObject } from '../api/json.js'
import { placeOf } from '../api/place.js'
import type { DecideRequest, Question } from '../decide/types.js'
import { type FoundImage, isGiven } from './find-images.js'
import { imageLimits } from './limits.js'
import { malformed, unacceptable } from './refusal.js'

interface Asset {
  readonly value: JsonObject
  readonly place: string
  readonly mark: string
  readonly blocks: JsonObject[]
  count: number
}

/**
 * Replaces references by marks.
 *
 * @param request - Its state is nested no deeper than JSON may be.
 * @param found - The request's other images, whose objects stay the same.
 * @returns The request with marks and blocks, and the images of its assets.
 * @throws {@link OiError} `ERR_BODY_INVALID`, `ERR_REQUEST_UNACCEPTABLE` (rule 3).
 */
export function markAssets(
  request: DecideRequest,
  found: readonly FoundImage[],
): {
  readonly request: DecideRequest
  readonly images: readonly FoundImage[]
} {
  const { assets } = request as { readonly assets?: unknown }
  if (!isGiven(assets)) return { request, images: [] }
  if (!isJsonObject(assets)) {
    throw malformed('assets', 'expected an object of images by their references')
  }
  const known = readAssets(assets)
  const marker = new Marker(known, new Set(found.flatMap(({ blocks }) => blocks)))
  const state = marker.state(request.state, 0)
  const questions = objectFromEntries(
    entriesOf(request.questions).map(([name, question]) => [name, marker.question(question)]),
  )
  for (const { count, place } of known.values()) {
    if (count === 0) throw unacceptable(place, 'expected to be named in the state or a question')
  }
  return {
    request: { ...request, state, questions },
    images: [...known.values()].map((asset) => ({ form: 'asset', ...asset })),
  }
}

function readAssets(assets: JsonObject): Map<string, Asset> {
  const entries = entriesOf(assets)
  if (entries.length > imageLimits.maxImages) {
    const { maxImages } = imageLimits
    throw unacceptable('assets', `expected at most ${maxImages} images, got ${entries.length}`)
  }
  const nonce = randomUUID().replaceAll('-', '')
  return new Map(
    entries.map(([ref, value], i) => {
      const place = placeOf('assets', ref)
      if (ref === '') throw malformed(place, 'expected a reference that is not empty')
      if (!isJsonObject(value)) throw malformed(place, 'expected an object with an image')
      return [ref, { value, place, mark: `\u{f0000}${nonce}${i}\u{f0001}`, blocks: [], count: 0 }]
    }),
  )
}

class Marker {
  readonly #assets: ReadonlyMap<string, Asset>
  readonly #kept: ReadonlySet<Json>
  readonly #refs: RegExp

  constructor(assets: ReadonlyMap<string, Asset>, kept: ReadonlySet<Json>) {
    this.#assets = assets
    this.#kept = kept
    const longestFirst = [...assets.keys()].toSorted((a, b) => b.length - a.length)
    this.#refs = new RegExp(longestFirst.map(escaped).join('|'), 'g')
  }

  /** Its name and type stay as they are, and so do the member names of a noul's criteria. */
  question(question: Question): Question {
    const { instructions } = question
    const said = instructions !== undefined && { instructions: this.#mark(instructions, 1) }
    if (question.type !== 'noul') {
      const criteria = this.#mark(question.criteria as JsonObject | Json[], 1)
      return { ...question, ...said, criteria } as typeof question
    }
    if (!question.criteria) return { ...question, ...said }
    const each = entriesOf<Json>(question.criteria)
    const criteria = objectFromEntries(each.map(([key, side]) => [key, this.#mark(side, 1)]))
    return { ...question, ...said, criteria }
  }

  /** As for other texts, but texts that are references become blocks. */
  state(value: Json, depth = 0): Json {
    const whole = typeof value === 'string' ? this.#assets.get(value) : undefined
    if (whole === undefined) {
      return this.#each(value, depth, (member) => this.state(member, depth + 1))
    }
    const block: JsonObject = {}
    whole.blocks.push(block)
    whole.count++
    return block
  }

  #mark(value: Json, depth: number): Json {
    return this.#each(value, depth, (member) => this.#mark(member, depth + 1))
  }

  #each(value: Json, depth: number, visit: (member: Json) => Json): Json {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value !== 'object' || value === null || value instanceof RawNumber) return value
    if (this.#kept.has(value)) return value
    if (depth > maxDepth) throw malformed('body', `expected at most ${maxDepth} levels of nesting`)
    if (Array.isArray(value)) return value.map(visit)
    return objectFromEntries(
      entriesOf(value).map(([name, member]) => [this.#text(name), visit(member)]),
    )
  }

  #text(text: string): string {
    return text.replace(this.#refs, (ref) => {
      const asset = this.#assets.get(ref)!
      asset.count++
      return asset.mark
    })
  }
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

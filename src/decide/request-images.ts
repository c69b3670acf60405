/**
 * Finds the images of a request, or refuses them.
 *
 * @module
 */

import { entriesOf, isShared } from '../api/json.js'
import type { Json } from '../api/json.js'
import { placeOf } from '../api/place.js'
import { OiError } from '../errors.js'
import { markAssets } from '../images/assets.js'
import { findImage, findImageIn, findImages, type FoundImage } from '../images/find-images.js'
import type { DecideRequest, ModelCard } from './types.js'

interface RequestWithImages {
  /** The request, with objects and marks in place of images that are texts. */
  readonly request: DecideRequest
  readonly images: readonly FoundImage[]
}

/**
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` for any image if the model has no vision, and
 *   for an image where none may be; `ERR_BODY_INVALID`.
 */
export function findRequestImages(
  request: DecideRequest,
  { name, modalities }: ModelCard,
): RequestWithImages {
  requireTextQuestions(request)
  if (!modalities.includes('image')) {
    const place = findImage(request)
    if (place === undefined) return { request, images: [] }
    throw unacceptable(place, `expected no image, the model ${name} reads text only`)
  }
  const { state, images: found } = findImages(request)
  const withBlocks = state === request.state ? request : { ...request, state }
  const { request: marked, images: named } = markAssets(withBlocks, found)
  return { request: marked, images: named.length === 0 ? found : [...found, ...named] }
}

/** Shared questions that were found to have no images. */
const textQuestions = new WeakSet<object>()

/** Questions may not hold image blocks: as text they would be read as base64. */
function requireTextQuestions({ questions }: DecideRequest): void {
  if (textQuestions.has(questions)) return
  for (const [name, { instructions, criteria }] of entriesOf(questions)) {
    for (const [member, value] of [
      ['instructions', instructions],
      ['criteria', criteria],
    ] as const) {
      if (value === undefined || value === null) continue
      const place = findImageIn(value as Json, member)
      if (place === undefined) continue
      const at = `${placeOf('questions', name)}.${place}`
      throw unacceptable(at, 'expected text: images stand in the state, or are named by `assets`')
    }
  }
  if (isShared(questions)) textQuestions.add(questions)
}

function unacceptable(place: string, rule: string): OiError {
  return new OiError('ERR_REQUEST_UNACCEPTABLE', `${place}: ${rule}`, { param: place })
}

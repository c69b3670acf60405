/**
 * A request as the addon takes it: texts and pictures one after another, in typed arrays.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { ImagePixels, PromptPart, ScoreInput } from './types.js'

/** What a part is, as the addon knows it. */
const partKinds = { user: 0, trusted: 1, image: 2 } as const

export interface PackedInput {
  /** Of every part; '' for a picture. */
  readonly texts: string[]
  /** Of every part: 0 for a caller's text, 1 for a template's, 2 for a picture. */
  readonly trusted: Uint8Array
  /** Parts of the prefix, then per question its parts and its candidates. */
  readonly shape: Int32Array
  readonly candidates: Int32Array
  /** RGB of each picture, in the order of the parts. */
  readonly images: Uint8Array[]
  /** Width and height of each picture. */
  readonly sizes: Int32Array
}

/** @throws {@link OiError} `ERR_INVALID_ARGUMENT` for a picture that is none, or in a question. */
export function pack({ prefix, suffixes }: ScoreInput): PackedInput {
  const texts: string[] = []
  const trusted: number[] = []
  const images: Uint8Array[] = []
  const sizes: number[] = []
  const shape = new Int32Array(1 + 2 * suffixes.length)
  let candidateCount = 0
  const add = (parts: readonly PromptPart[]): number => {
    for (const { text, trusted: isTrusted, image } of parts) {
      if (image === undefined) {
        texts.push(text)
        trusted.push(isTrusted ? partKinds.trusted : partKinds.user)
      } else {
        requirePixels(image, text)
        texts.push('')
        trusted.push(partKinds.image)
        images.push(image.rgb)
        sizes.push(image.width, image.height)
      }
    }
    return parts.length
  }
  shape[0] = add(prefix)
  const prefixImages = images.length
  suffixes.forEach((suffix, i) => {
    shape[1 + 2 * i] = add(suffix.parts)
    shape[2 + 2 * i] = suffix.candidates.length
    candidateCount += suffix.candidates.length
  })
  if (images.length > prefixImages) {
    throw new OiError('ERR_INVALID_ARGUMENT', 'image: expected none in a suffix')
  }
  const candidates = new Int32Array(candidateCount)
  let offset = 0
  for (const suffix of suffixes) {
    candidates.set(suffix.candidates, offset)
    offset += suffix.candidates.length
  }
  return {
    ...{ texts, trusted: Uint8Array.from(trusted), shape, candidates },
    ...{ images, sizes: Int32Array.from(sizes) },
  }
}

function requirePixels({ rgb, width, height }: ImagePixels, text: string): void {
  const whole = Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0
  if (whole && rgb instanceof Uint8Array && rgb.length === 3 * width * height && text === '') return
  throw new OiError(
    'ERR_INVALID_ARGUMENT',
    `image: expected 3 × ${width} × ${height} bytes, and no text in its part`,
  )
}

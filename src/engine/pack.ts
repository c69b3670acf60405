/**
 * A request as addon and runners take it: texts and images in flat arrays.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { ImagePixels, PromptPart, ScoreInput } from './types.js'

/** Kinds of parts, as in `kinds` of {@link PackedInput}. */
const partKinds = { user: 0, trusted: 1, image: 2 } as const

/**
 * A request in arrays: P parts (the prefix's, then those of Q questions), C candidates and I
 * images.
 *
 * native/binding/convert.h reads the same; test/native/border.test.ts compares the two.
 */
interface PackedInput {
  /** P texts; '' for an image. */
  readonly texts: string[]
  /** P bytes: 0 for a caller's text, 1 for a template's (control tokens), 2 for an image. */
  readonly kinds: Uint8Array
  /**
   * 1 + 3 Q counts: the prefix's parts; then for each question its parts, its candidates, and 1 if
   * its tokens are counted, else 0.
   */
  readonly shape: Int32Array
  /** C token ids, question by question. */
  readonly candidates: Int32Array
  /** I images, in the order of their parts: RGB, 8 bits each, row by row from the top. */
  readonly images: Uint8Array[]
  /** 2 I counts, pixels, each at least 1: width and height of each image. */
  readonly sizes: Int32Array
}

/** A request with its workspace, its scope and its deadline. */
export interface ScoreAsk extends PackedInput {
  /** An integer from 0 to 2^32 - 1. */
  readonly workspace: number
  /** Who shares what is evaluated for it. */
  readonly scope: string
  /** Milliseconds from now; Infinity for none. */
  readonly deadlineMs: number
}

/**
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` for an invalid image, or an image in a question.
 */
export function pack({ prefix, suffixes }: ScoreInput): PackedInput {
  const texts: string[] = []
  const kinds: number[] = []
  const images: Uint8Array[] = []
  const sizes: number[] = []
  const counted = suffixes.flatMap(({ counts }) => (counts?.length ? [counts] : []))
  const shape = new Int32Array(1 + 3 * (suffixes.length + counted.length))
  let candidateCount = 0
  const add = (parts: readonly PromptPart[]): number => {
    for (const { text, trusted: isTrusted, image } of parts) {
      if (image === undefined) {
        texts.push(text)
        kinds.push(isTrusted ? partKinds.trusted : partKinds.user)
      } else {
        requirePixels(image, text)
        texts.push('')
        kinds.push(partKinds.image)
        images.push(image.rgb)
        sizes.push(image.width, image.height)
      }
    }
    return parts.length
  }
  shape[0] = add(prefix)
  const prefixImages = images.length
  let at = 1
  const addQuestion = (parts: readonly PromptPart[], candidates: number, isCounted: boolean) => {
    shape[at++] = add(parts)
    shape[at++] = candidates
    shape[at++] = Number(isCounted)
  }
  for (const { parts, candidates, counts } of suffixes) {
    addQuestion(parts, candidates.length, counts === undefined)
    candidateCount += candidates.length
  }
  // Behind the others: without candidates, they have no place in the output.
  for (const parts of counted) addQuestion(parts, 0, true)
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
    ...{ texts, kinds: Uint8Array.from(kinds), shape, candidates },
    ...{ images, sizes: Int32Array.from(sizes) },
  }
}

/**
 * The index of the suffix that a question of the packed request came from.
 *
 * @param question - Its index, as the addon names it.
 */
export function suffixOf({ suffixes }: ScoreInput, question: number): number {
  if (question < suffixes.length) return question
  const counted = suffixes.flatMap(({ counts }, i) => (counts?.length ? [i] : []))
  return counted[question - suffixes.length]!
}

function requirePixels({ rgb, width, height }: ImagePixels, text: string): void {
  const whole = Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0
  if (whole && rgb instanceof Uint8Array && rgb.length === 3 * width * height && text === '') return
  throw new OiError(
    'ERR_INVALID_ARGUMENT',
    `image: expected 3 × ${width} × ${height} bytes, and no text in its part`,
  )
}

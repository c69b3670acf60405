/**
 * The images of one request, from what was sent to pixels, within bounds that hold for the whole
 * process.
 *
 * Memory
 *   - Decoding: the pictures that are being decoded have at most 2^26 pixels together. The costliest
 *     kinds, an interlaced PNG of 16 bits and four channels and a progressive JPEG in CMYK, take 8
 *     bytes of each: 512 MiB. What libvips has besides brought that to 600 MiB in measurements, to
 *     850 for the widest picture. The others wait.
 *   - Holding: the files and the scaled pictures of all requests that are not answered yet take at
 *     most 512 MiB, by what they may take at most (`max_pixels`), and as much again where the engine
 *     has copied them. What does not fit waits, in the order of its coming.
 *
 * @module
 */

import type { JsonObject } from '../api/json.js'
import type { RequestImages } from '../decide/types.js'
import type { Cancellation, ImagePixels } from '../engine/types.js'
import { Budget, requireWanted } from './budget.js'
import type { OpenedImage } from './decode.js'
import type { FoundImage } from './find-images.js'
import { type ImageSource, type Parts, readSource } from './image-source.js'
import { imageLimits } from './limits.js'
import { unacceptable } from './refusal.js'

/** Pixels in decoding. A picture of the largest size has it all for itself. */
const decoding = new Budget(imageLimits.maxSourcePixels)
/** Bytes of files and scaled pictures; one request takes 416 MiB at most. */
const holding = new Budget(512 * 2 ** 20)

/** Decoded images, whose memory is counted until they are released. */
export interface HeldImages extends RequestImages {
  /** To be called when the engine is done with them. Further calls do nothing. */
  release(): void
}

/**
 * Loads what decodes, so that a server without it says so at its start.
 *
 * @throws If sharp has no binary for this system.
 */
export async function loadDecoder(): Promise<void> {
  await import('./decode.js')
}

/**
 * Decodes images. All of them are checked before the first is decoded.
 *
 * @param found - In the order of the request.
 * @param signal - Ends the waiting; what is being decoded is decoded to its end.
 * @param parts - Files that came beside it.
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` or `ERR_BODY_INVALID` with the place of the
 *   first image that is wrong; `ERR_ABORTED`.
 */
export async function readImages(
  found: readonly FoundImage[],
  signal?: Cancellation,
  parts: Parts = new Map(),
): Promise<HeldImages> {
  requireFew(found)
  const sources = found.map((image) => readSource(image, parts))
  requireSmall(sources)
  const heldBytes = sources.reduce(
    (sum, source) => sum + source.byteLength + 3 * source.maxPixels,
    0,
  )
  const release = await holding.take(heldBytes, signal)
  try {
    const pictures = await decodeAll(sources, signal)
    return { ...placed(found, pictures), release }
  } catch (error) {
    release()
    throw error
  }
}

async function decodeAll(
  sources: readonly ImageSource[],
  signal: Cancellation | undefined,
): Promise<ImagePixels[]> {
  const { decodeImage, openImage } = await import('./decode.js')
  const opened: OpenedImage[] = []
  for (const source of sources) {
    requireWanted(signal)
    opened.push(await openImage(source))
  }
  const decoded = await Promise.allSettled(
    opened.map(async (image) => {
      const release = await decoding.take(image.width * image.height, signal)
      try {
        return await decodeImage(image)
      } finally {
        release()
      }
    }),
  )
  // Only now: while others are still being decoded, their memory is not free.
  return decoded.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

function placed(found: readonly FoundImage[], pictures: readonly ImagePixels[]): RequestImages {
  const before: ImagePixels[] = []
  const inState = new Map<JsonObject, ImagePixels>()
  const inText = new Map<string, ImagePixels>()
  found.forEach((image, i) => {
    const picture = pictures[i]!
    if (image.form === 'asset') inText.set(image.mark, picture)
    else if (image.blocks.length === 0) before.push(picture)
    for (const block of image.blocks) inState.set(block, picture)
  })
  return { before, inState, inText }
}

/** One that is seen in several places takes up each of them. */
function requireFew(found: readonly FoundImage[]): void {
  const { maxImages } = imageLimits
  let count = 0
  let excess: string | undefined
  for (const image of found) {
    count += image.form === 'asset' ? image.count : 1
    if (count > maxImages) excess ??= image.place
  }
  if (excess === undefined) return
  throw unacceptable(excess, `expected at most ${maxImages} images, got ${count}`)
}

function requireSmall(sources: readonly ImageSource[]): void {
  const { maxTotalBytes } = imageLimits
  let bytes = 0
  for (const { byteLength, place } of sources) {
    bytes += byteLength
    if (bytes <= maxTotalBytes) continue
    throw unacceptable(place, `expected at most ${maxTotalBytes} bytes of images together`)
  }
}

/**
 * Reads the images of one request, from their source to pixels, within bounds for the whole
 * process.
 *
 * Memory
 *   - Decoding: the images being decoded have at most 2^26 pixels together; the others wait. The
 *     costliest kinds, an interlaced PNG of 16 bits and four channels and a progressive JPEG in
 *     CMYK, take 8 bytes per pixel: 512 MiB. With libvips' own memory, measurements gave 600 MiB,
 *     and 850 MiB for the widest image.
 *   - Holding: the files and the scaled images of all unanswered requests take at most 512 MiB, by
 *     their upper bounds (`max_pixels`), and as much again where the engine has copied them. Others
 *     wait, in the order of arrival.
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

/** Pixels being decoded. An image of the largest size takes the whole budget. */
const decoding = new Budget(imageLimits.maxSourcePixels)
/** Bytes of files and scaled images; one request takes at most 416 MiB. */
const holding = new Budget(512 * 2 ** 20)

/** Decoded images, whose memory is counted until they are released. */
export interface HeldImages extends RequestImages {
  /** Called when the engine is done with them. Further calls do nothing. */
  release(): void
}

/**
 * Loads the decoder, so that a server without it fails at its start.
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
 * @param signal - Ends the wait; an image that is being decoded is decoded completely.
 * @param parts - Files sent beside the request.
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` or `ERR_BODY_INVALID` with the place of the
 *   first bad image; `ERR_ABORTED`.
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
    const decoded = await decodeAll(sources, signal)
    return { ...placed(found, decoded), release }
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
  // Only now: while others are being decoded, their memory is not free.
  return decoded.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

function placed(found: readonly FoundImage[], decoded: readonly ImagePixels[]): RequestImages {
  const before: ImagePixels[] = []
  const inState = new Map<JsonObject, ImagePixels>()
  const inText = new Map<string, ImagePixels>()
  found.forEach((image, i) => {
    const pixels = decoded[i]!
    if (image.form === 'asset') inText.set(image.mark, pixels)
    else if (image.blocks.length === 0) before.push(pixels)
    for (const block of image.blocks) inState.set(block, pixels)
  })
  return { before, inState, inText }
}

/** An image that is seen in several places counts each time. */
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

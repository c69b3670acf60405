/**
 * Decodes image files, with libvips. The only module that names sharp.
 *
 * Imported late: loading libvips takes time that models without vision need not spend.
 *
 * Rules
 *   1. The bytes are sniffed before libvips sees them, so only its readers of the four types are
 *      ever reached.
 *   2. The header is read and checked before any pixel is decoded.
 *   3. An error of libvips is the image's fault and never the server's, except a timeout.
 *
 * @module
 */

import sharp from 'sharp'
import type { ImagePixels } from '../engine/types.js'
import { OiError } from '../errors.js'
import type { ImageSource } from './image-source.js'
import { imageLimits } from './limits.js'
import { isAnimatedPng, mediaTypes, otherType, sniff } from './media-type.js'
import { unacceptable } from './refusal.js'

// For the whole process. Nothing that a caller sent is cached; one image is decoded on one thread,
// as the cores are for the model.
sharp.cache(false)
sharp.concurrency(1)

/** Damaged and truncated pixel data are refused; oddities in other parts are not. */
const failOn = 'error'

/** So that no image blocks the others for ever: the largest ones take a few seconds. */
const timeoutSeconds = 60

/** A file whose header has been read. */
export interface OpenedImage {
  readonly source: ImageSource
  readonly bytes: Buffer
  /** The size as displayed, before scaling. */
  readonly width: number
  readonly height: number
}

/**
 * Reads the header of an image.
 *
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` if the text is not base64, the file is of
 *   another type than stated, is an animation, has too many pixels, or cannot be read.
 */
export async function openImage(source: ImageSource): Promise<OpenedImage> {
  const { place } = source
  const bytes = bytesOf(source)
  const found = sniff(bytes)
  const { mediaType = found } = source
  if (found === undefined || found !== mediaType) {
    const wanted = mediaType ?? mediaTypes.join(', ')
    const unknown = bytes.length === 0 ? 'nothing' : 'something else'
    const got = found ?? otherType(bytes) ?? unknown
    throw unacceptable(place, `expected an image of the type ${wanted}, got ${got}`)
  }
  // The pixels are counted here, so that the message can state their number.
  const { pages = 1, autoOrient } = await sharp(bytes, { failOn, limitInputPixels: false })
    .metadata()
    .catch((cause: unknown) => Promise.reject(undecodable(place, cause)))
  if (pages > 1 || (mediaType === 'image/png' && isAnimatedPng(bytes))) {
    throw unacceptable(place, 'expected an image of one frame, got an animation')
  }
  const { width, height } = autoOrient
  const { maxSourcePixels, maxSide } = imageLimits
  if (width * height > maxSourcePixels) {
    const got = `${width} × ${height} = ${width * height}`
    throw unacceptable(place, `expected at most ${maxSourcePixels} pixels, got ${got}`)
  }
  // A row of millions of pixels takes libvips a gigabyte, however few rows there are.
  if (width > maxSide || height > maxSide) {
    throw unacceptable(place, `expected at most ${maxSide} pixels a side, got ${width} × ${height}`)
  }
  return { source, bytes, width, height }
}

/**
 * Decodes an image: rotated by its EXIF orientation, scaled down to its `maxPixels`, on white where
 * it is transparent, in sRGB.
 *
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` if it cannot be decoded completely,
 *   `ERR_TIMEOUT` if that takes more than a minute.
 */
export async function decodeImage({ source, bytes, ...size }: OpenedImage): Promise<ImagePixels> {
  const { place, maxPixels } = source
  const { width, height } = scaled(size, maxPixels)
  const { data, info } = await sharp(bytes, {
    failOn,
    autoOrient: true,
    limitInputPixels: imageLimits.maxSourcePixels,
  })
    .timeout({ seconds: timeoutSeconds })
    .resize(width, height, { fit: 'fill' })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
    .catch((cause: unknown) => Promise.reject(undecodable(place, cause)))
  if (info.width !== width || info.height !== height || data.length !== 3 * width * height) {
    const got = `${info.width} × ${info.height} × ${info.channels}`
    throw undecodable(place, new Error(`sharp made ${got} instead of ${width} × ${height} × 3`))
  }
  return { rgb: data, width, height }
}

/**
 * The size of an image of at most this many pixels. The aspect ratio is kept, unless one side would
 * vanish: each has at least one pixel.
 */
export function scaled(
  { width, height }: { readonly width: number; readonly height: number },
  maxPixels: number,
): { width: number; height: number } {
  if (width * height <= maxPixels) return { width, height }
  const scale = Math.sqrt(maxPixels / (width * height))
  const narrow = Math.min(Math.max(1, Math.floor(width * scale)), maxPixels)
  const low = Math.max(1, Math.floor(height * scale))
  return { width: narrow, height: Math.min(low, Math.floor(maxPixels / narrow)) }
}

function bytesOf({ data, place }: ImageSource): Buffer {
  if (typeof data !== 'string') return Buffer.from(data.buffer, data.byteOffset, data.length)
  const bytes = Buffer.from(data, 'base64')
  // Node skips characters that are not base64. Only valid base64 is the same when encoded again.
  if (data === '' || bytes.toString('base64') !== data) {
    throw unacceptable(place, 'expected base64 text, padded')
  }
  return bytes
}

function undecodable(place: string, cause: unknown): OiError {
  if (cause instanceof Error && cause.message.startsWith('timeout:')) {
    const message = `${place}: not decoded within ${timeoutSeconds} s`
    return new OiError('ERR_TIMEOUT', message, { param: place, cause })
  }
  return unacceptable(place, 'expected a whole and undamaged image', cause)
}

/**
 * An image as it was sent, checked as far as that is possible without decoding it.
 *
 * @module
 */

import { isJsonObject, type JsonObject, RawNumber } from '../api/json.js'
import { placeOf, shortened } from '../api/place.js'
import type { FoundImage } from './find-images.js'
import { imageLimits } from './limits.js'
import { type MediaType, mediaTypes } from './media-type.js'
import { malformed, unacceptable } from './refusal.js'

export interface ImageSource {
  /** Where its data stands: `state.photo.source.data`, `state[2].image_url.url`, `images[0]`. */
  readonly place: string
  /** What the picture replaces in the state; undefined for one that stands beside it. */
  readonly block: JsonObject | undefined
  readonly base64: string
  /** Of the file, if the text is base64 throughout; never less than its true length. */
  readonly byteLength: number
  readonly mediaType: MediaType
  /** Pixels of the picture behind scaling, at most. */
  readonly maxPixels: number
}

/**
 * @throws {@link OiError} `ERR_BODY_INVALID` for a member that is missing or of a wrong type,
 *   `ERR_REQUEST_UNACCEPTABLE` for a remote address, a media type that is not one of
 *   {@link mediaTypes}, too many bytes, or `max_pixels` out of its bounds.
 */
export function readSource(image: FoundImage): ImageSource {
  if (image.form === 'listed') return fromUrl(image.value, image.place, undefined)

  const { form, block } = image
  const place = form === 'image' ? placeOf(image.place, 'image') : image.place
  const maxPixels = readMaxPixels(block['max_pixels'], placeOf(place, 'max_pixels'))
  if (form === 'source') return fromBlock(block, place, maxPixels)
  if (form === 'image') return fromUrl(block['url'], placeOf(place, 'url'), block, maxPixels)

  const { image_url: link } = block
  const linkPlace = placeOf(place, 'image_url')
  return isJsonObject(link)
    ? fromUrl(link['url'], placeOf(linkPlace, 'url'), block, maxPixels)
    : fromUrl(link, linkPlace, block, maxPixels)
}

function fromBlock(block: JsonObject, place: string, maxPixels: number): ImageSource {
  const { type, media_type: mediaType, data } = block['source'] as JsonObject
  const sourcePlace = placeOf(place, 'source')
  const typePlace = placeOf(sourcePlace, 'type')
  if (typeof type !== 'string') throw malformed(typePlace, 'expected "base64"')
  if (type !== 'base64') {
    const got = JSON.stringify(shortened(type))
    throw unacceptable(typePlace, `expected "base64", got ${got}: pictures are never fetched`)
  }
  const mediaTypePlace = placeOf(sourcePlace, 'media_type')
  if (typeof mediaType !== 'string') {
    throw malformed(mediaTypePlace, `expected one of ${mediaTypes.join(', ')}`)
  }
  const dataPlace = placeOf(sourcePlace, 'data')
  if (typeof data !== 'string') throw malformed(dataPlace, 'expected base64 text')
  const known = readMediaType(mediaType, mediaTypePlace)
  return withData(data, { place: dataPlace, block, mediaType: known, maxPixels })
}

/** A media type without parameters may be followed by any before the mark of base64. */
const dataUrlHead = /^data:([^;,]*)(?:;[^;,]*)*;base64$/i
const longestHead = 200

function fromUrl(
  url: unknown,
  place: string,
  block: JsonObject | undefined,
  maxPixels: number = imageLimits.standardMaxPixels,
): ImageSource {
  if (typeof url !== 'string') throw malformed(place, 'expected a data URL')
  const comma = url.slice(0, longestHead).indexOf(',')
  const [, mediaType] = dataUrlHead.exec(url.slice(0, Math.max(0, comma))) ?? []
  if (mediaType === undefined) {
    const rule = 'expected a data URL as data:image/png;base64,…: pictures are never fetched'
    throw unacceptable(place, rule)
  }
  const known = readMediaType(mediaType, place)
  return withData(url.slice(comma + 1), { place, block, mediaType: known, maxPixels })
}

function withData(base64: string, facts: Omit<ImageSource, 'base64' | 'byteLength'>): ImageSource {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  const byteLength = Math.ceil(base64.length / 4) * 3 - padding
  const { maxBytes } = imageLimits
  if (byteLength > maxBytes) {
    throw unacceptable(facts.place, `expected at most ${maxBytes} bytes, got ${byteLength}`)
  }
  return { ...facts, base64, byteLength }
}

function readMediaType(name: string, place: string): MediaType {
  const known = mediaTypes.find((type) => type === name.toLowerCase())
  if (known !== undefined) return known
  const got = JSON.stringify(shortened(name))
  throw unacceptable(place, `expected one of ${mediaTypes.join(', ')}, got ${got}`)
}

function readMaxPixels(value: unknown, place: string): number {
  const { leastMaxPixels, mostMaxPixels, standardMaxPixels } = imageLimits
  if (value === undefined || value === null) return standardMaxPixels
  // 5000.0 is an integer, however it was written.
  const number = value instanceof RawNumber ? value.valueOf() : value
  if (Number.isInteger(number)) {
    const pixels = number as number
    if (pixels >= leastMaxPixels && pixels <= mostMaxPixels) return pixels
  }
  throw unacceptable(place, `expected an integer from ${leastMaxPixels} to ${mostMaxPixels}`)
}

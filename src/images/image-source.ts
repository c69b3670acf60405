/**
 * An image as it was sent, checked as far as possible without decoding.
 *
 * @module
 */

import { entriesOf, isJsonObject, type JsonObject, RawNumber } from '../api/json.js'
import { placeOf, shortened } from '../api/place.js'
import { requireUnique } from '../api/unique.js'
import type { FoundImage } from './find-images.js'
import { imageLimits } from './limits.js'
import { type MediaType, mediaTypes } from './media-type.js'
import { formOf, inlineOf, isAddress, mediaTypeOf } from './image-forms.js'
import { malformed, unacceptable } from './refusal.js'

/** Files sent beside a body, by the names of their parts. */
export type Parts = ReadonlyMap<string, Uint8Array>

export interface ImageSource {
  /** The place of its data: `state.photo.source.data`, `state[2].image_url.url`, `images[0]`. */
  readonly place: string
  /** The file, or its base64. */
  readonly data: string | Uint8Array
  /** Of the file, if a text is valid base64; never less than the true length. */
  readonly byteLength: number
  /** Undefined if not stated: sniffed from the bytes. */
  readonly mediaType: MediaType | undefined
  /** The most pixels of the image after scaling. */
  readonly maxPixels: number
}

/** The facts of an image without its data. */
type Facts = Pick<ImageSource, 'place' | 'mediaType' | 'maxPixels'>

/**
 * @param parts - The request's.
 * @throws {@link OiError} `ERR_BODY_INVALID` for a member that is missing or of a wrong type,
 *   `ERR_REQUEST_UNACCEPTABLE` for a remote address, a media type that is not one of
 *   {@link mediaTypes}, too many bytes, or `max_pixels` out of its bounds.
 */
export function readSource(image: FoundImage, parts: Parts): ImageSource {
  const { place, form } = image
  requireEachOnce(image.value, place)
  if (form === 'text') return fromText(image.value, place, standard)
  if (form === 'listed') return fromListed(image.value, place)
  if (form === 'asset') return fromAsset(image.value, place, parts)
  return fromForm(form, image.value, form === 'image' ? placeOf(place, 'image') : place)
}

/** In a block and the objects right in it. */
function requireEachOnce(value: unknown, place: string): void {
  if (!isJsonObject(value)) return
  requireUnique(value, place)
  for (const [name, member] of entriesOf(value)) {
    if (isJsonObject(member)) requireUnique(member, placeOf(place, name))
  }
}

const standard = imageLimits.standardMaxPixels

function fromForm(
  form: Exclude<FoundImage['form'], 'text' | 'listed' | 'asset'>,
  block: JsonObject,
  place: string,
): ImageSource {
  const maxPixels = readMaxPixels(block['max_pixels'], placeOf(place, 'max_pixels'))
  if (form === 'source') return fromBlock(block, place, maxPixels)
  if (form === 'image') return fromUrl(block['url'], placeOf(place, 'url'), maxPixels)
  if (form === 'file') return fromFile(block, place, maxPixels)
  if (form === 'bare') {
    const { image } = block
    const mediaType = readOptionalType(mediaTypeOf(block), place)
    return fromText(image as string, placeOf(place, 'image'), maxPixels, mediaType)
  }
  if (form === 'typed' || form === 'inline') {
    const [at, holder] =
      form === 'typed' ? [place, block] : [placeOf(place, inlineName(block)), inlineOf(block)]
    const { base64, data } = holder as JsonObject
    const text = base64 ?? data
    if (typeof text !== 'string') throw malformed(placeOf(at, 'data'), 'expected base64 text')
    const mediaType = readMediaType(mediaTypeOf(holder as JsonObject), placeOf(at, 'mediaType'))
    const name = base64 === undefined ? 'data' : 'base64'
    return withData(text, { place: placeOf(at, name), mediaType, maxPixels })
  }
  const { image_url: link } = block
  const linkPlace = placeOf(place, 'image_url')
  return isJsonObject(link)
    ? fromUrl(link['url'], placeOf(linkPlace, 'url'), maxPixels)
    : fromUrl(link, linkPlace, maxPixels)
}

const inlineName = (block: JsonObject) => ('inlineData' in block ? 'inlineData' : 'inline_data')

function fromBlock(block: JsonObject, place: string, maxPixels: number): ImageSource {
  const { type, media_type: mediaType, data } = block['source'] as JsonObject
  const sourcePlace = placeOf(place, 'source')
  const typePlace = placeOf(sourcePlace, 'type')
  if (typeof type !== 'string') throw malformed(typePlace, 'expected "base64"')
  if (type !== 'base64') {
    const got = JSON.stringify(shortened(type))
    throw unacceptable(typePlace, `expected "base64", got ${got}: images are never fetched`)
  }
  const mediaTypePlace = placeOf(sourcePlace, 'media_type')
  if (typeof mediaType !== 'string') {
    throw malformed(mediaTypePlace, `expected one of ${mediaTypes.join(', ')}`)
  }
  const dataPlace = placeOf(sourcePlace, 'data')
  if (typeof data !== 'string') throw malformed(dataPlace, 'expected base64 text')
  const known = readMediaType(mediaType, mediaTypePlace)
  return withData(data, { place: dataPlace, mediaType: known, maxPixels })
}

/** A file of any kind, which must be an image. */
function fromFile(block: JsonObject, place: string, maxPixels: number): ImageSource {
  const file = isJsonObject(block['file']) ? block['file'] : block
  const data = file['file_data'] ?? file['data']
  if (typeof data !== 'string') {
    throw unacceptable(place, 'expected the bytes of an image: files are never fetched')
  }
  const mediaType = isAddress(data) ? undefined : readOptionalType(mediaTypeOf(file), place)
  return fromText(data, place, maxPixels, mediaType)
}

/** An image beside the state: a text, or a block. */
function fromListed(value: unknown, place: string): ImageSource {
  if (typeof value === 'string') return fromText(value, place, standard)
  if (!isJsonObject(value)) throw malformed(place, 'expected a data URL, base64 or a block')
  const form = formOf(value)
  if (form === 'image') return fromForm(form, value['image'] as JsonObject, placeOf(place, 'image'))
  if (form !== undefined) return fromForm(form, value, place)
  const { url, data, base64 } = value
  if (url !== undefined) return fromForm('image', value, place)
  const text = data ?? base64
  if (typeof text !== 'string') {
    throw malformed(place, 'expected a data URL, base64 or a block')
  }
  const maxPixels = readMaxPixels(value['max_pixels'], placeOf(place, 'max_pixels'))
  const mediaType = readOptionalType(mediaTypeOf(value), place)
  return fromText(
    text,
    placeOf(place, data === undefined ? 'base64' : 'data'),
    maxPixels,
    mediaType,
  )
}

function fromAsset(asset: JsonObject, place: string, parts: Parts): ImageSource {
  const { type = 'image', format, data_base64: base64, part } = asset
  if (type !== 'image') throw unacceptable(placeOf(place, 'type'), 'expected "image"')
  const formatPlace = placeOf(place, 'format')
  if (format !== undefined && typeof format !== 'string') {
    throw malformed(formatPlace, 'expected "png" or "jpeg"')
  }
  const mediaType = format && readMediaType(format.replace(/^(?:image\/)?/i, 'image/'), formatPlace)
  const maxPixels = readMaxPixels(asset['max_pixels'], placeOf(place, 'max_pixels'))
  const facts = { mediaType: mediaType || undefined, maxPixels }
  if ((base64 === undefined) === (part === undefined)) {
    const got = base64 === undefined ? 'neither' : 'both'
    throw malformed(place, `expected data_base64, or part in multipart/form-data, got ${got}`)
  }
  if (base64 !== undefined) {
    const dataPlace = placeOf(place, 'data_base64')
    if (typeof base64 !== 'string') throw malformed(dataPlace, 'expected base64 text')
    return withData(base64, { ...facts, place: dataPlace })
  }
  const partPlace = placeOf(place, 'part')
  if (typeof part !== 'string') throw malformed(partPlace, 'expected the name of a part')
  const data = parts.get(part)
  if (data === undefined) throw unacceptable(partPlace, 'expected the name of a part with a file')
  requireSize(data.length, partPlace)
  return { ...facts, place: partPlace, data, byteLength: data.length }
}

/** A data URL or base64. @param mediaType - Of base64, if known. */
function fromText(
  text: string,
  place: string,
  maxPixels: number,
  mediaType?: MediaType,
): ImageSource {
  if (isAddress(text)) return fromUrl(text, place, maxPixels)
  return withData(text, { place, mediaType, maxPixels })
}

/** A media type without parameters; parameters may follow, and then `;base64`. */
const dataUrlHead = /^data:([^;,]*)(?:;[^;,]*)*?(; *base64)?$/i
const longestHead = 200

function fromUrl(url: unknown, place: string, maxPixels: number): ImageSource {
  if (typeof url !== 'string') throw malformed(place, 'expected a data URL')
  const comma = url.slice(0, longestHead).indexOf(',')
  const [, mediaType, coding] = dataUrlHead.exec(url.slice(0, Math.max(0, comma))) ?? []
  // What is not read at all is named first, however it is written.
  const known = mediaType === undefined ? undefined : readMediaType(mediaType, place)
  if (known === undefined || coding === undefined) {
    const why = known === undefined ? ': images are never fetched' : ''
    throw unacceptable(place, `expected a data URL as data:image/png;base64,…${why}`)
  }
  const data = url.slice(comma + 1)
  return withData(data.includes('%') ? unescaped(data) : data, {
    ...{ place, mediaType: known, maxPixels },
  })
}

/** Base64 characters that URLs escape, and line breaks, as URLs may contain them. */
function unescaped(data: string): string {
  return data.replaceAll(/%(?:2B|2F|3D|0D|0A)/gi, (letter) => {
    return String.fromCharCode(Number.parseInt(letter.slice(1), 16))
  })
}

function withData(text: string, facts: Facts): ImageSource {
  let data = text
  // Line breaks as in mail, from tools made for mail.
  if (data.includes('\n') || data.includes('\r')) data = data.replaceAll(/[\r\n]+/g, '')
  // The base64url alphabet, which Python's pydantic writes.
  if (data.includes('-')) data = data.replaceAll('-', '+')
  if (data.includes('_')) data = data.replaceAll('_', '/')
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  const byteLength = Math.ceil(data.length / 4) * 3 - padding
  requireSize(byteLength, facts.place)
  return { ...facts, data, byteLength }
}

function requireSize(byteLength: number, place: string): void {
  const { maxBytes } = imageLimits
  if (byteLength <= maxBytes) return
  throw unacceptable(place, `expected at most ${maxBytes} bytes, got ${byteLength}`)
}

function readOptionalType(name: string | undefined, place: string): MediaType | undefined {
  return name === undefined ? undefined : readMediaType(name, place)
}

function readMediaType(name: string | undefined, place: string): MediaType {
  // A common misspelling.
  const usual = name?.toLowerCase().replace(/^image\/jpg$/, 'image/jpeg')
  const known = mediaTypes.find((type) => type === usual)
  if (known !== undefined) return known
  const got = name === undefined ? 'none' : JSON.stringify(shortened(name))
  throw unacceptable(place, `expected one of ${mediaTypes.join(', ')}, got ${got}`)
}

function readMaxPixels(value: unknown, place: string): number {
  const { leastMaxPixels, mostMaxPixels, standardMaxPixels } = imageLimits
  if (value === undefined || value === null) return standardMaxPixels
  // 5000.0 is an integer, however it is written.
  const number = value instanceof RawNumber ? value.valueOf() : value
  if (Number.isInteger(number)) {
    const pixels = number as number
    if (pixels >= leastMaxPixels && pixels <= mostMaxPixels) return pixels
  }
  throw unacceptable(place, `expected an integer from ${leastMaxPixels} to ${mostMaxPixels}`)
}

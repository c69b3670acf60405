/**
 * The forms in which clients write an image: image blocks, and objects that only mention images.
 *
 * @module
 */

import { isJsonObject, type Json, type JsonObject } from '../api/json.js'

/**
 * - `source`: `{"type":"image","source":{…}}`, the interface's own
 * - `image_url`: `{"type":"image_url","image_url":…}`, and `input_image` for the type
 * - `image`: a member `image` that is `{"url":"data:…"}`; the image is that member, not its object
 * - `bare`: `{"type":"image","image":"…"}`, a data URL or base64
 * - `typed`: base64 beside its media type, `{"mediaType","base64"}`
 * - `inline`: `{"inlineData":{"mimeType","data"}}`
 * - `file`: a file block, of any type of file
 */
export type BlockForm = 'source' | 'image_url' | 'image' | 'bare' | 'typed' | 'inline' | 'file'

/** The form of a block; undefined for any other object. */
export function formOf(object: JsonObject): BlockForm | undefined {
  const { type, image } = object
  if (typeof type === 'string') {
    const form = formOfType(type, object)
    if (form !== undefined) return form
  }
  if (typeof object['base64'] === 'string' && mediaTypeOf(object) !== undefined) return 'typed'
  if (isJsonObject(inlineOf(object)) && Object.keys(object).length === 1) return 'inline'
  if (!isJsonObject(image) || typeof image['url'] !== 'string') return undefined
  // A remote address is an image only as the sole member: descriptions of goods and pages have such
  // members.
  return isDataUrl(image['url']) || Object.keys(object).length === 1 ? 'image' : undefined
}

function formOfType(type: string, object: JsonObject): BlockForm | undefined {
  const { source, image, data, file, image_url: linked } = object
  if (type === 'image') {
    if (isJsonObject(source)) return 'source'
    if (typeof image === 'string' && (isAddress(image) || isBareImage(image))) return 'bare'
    return typeof data === 'string' && mediaTypeOf(object) !== undefined ? 'typed' : undefined
  }
  if (type === 'image_url' || type === 'input_image') {
    if (typeof linked === 'string' || isJsonObject(linked)) return 'image_url'
    return type === 'input_image' && typeof object['file_id'] === 'string' ? 'file' : undefined
  }
  if (type !== 'file' && type !== 'input_file') return undefined
  // Folder listings have such a type too.
  const { file_data: content, file_id: id, file_url: url } = isJsonObject(file) ? file : object
  if ([content, id, url].some((value) => typeof value === 'string')) return 'file'
  return typeof data === 'string' && mediaTypeOf(object) !== undefined ? 'file' : undefined
}

/** The value of `inlineData`, by either of its names. */
export function inlineOf(object: JsonObject): Json | undefined {
  return object['inlineData'] ?? object['inline_data']
}

/** The media type that an object states, under any of the names that clients use. */
export function mediaTypeOf(object: JsonObject): string | undefined {
  const { mediaType, media_type: lower, mimeType, mime_type: other } = object
  const type = mediaType ?? lower ?? mimeType ?? other
  return typeof type === 'string' ? type : undefined
}

/** Whether a text is entirely an image's data URL, apart from white space before it. */
export function isImageUrl(text: string): boolean {
  return text.startsWith('data:image/') || /^\s*data:image\//i.test(text)
}

function isDataUrl(text: string): boolean {
  return /^data:/i.test(text)
}

export function isAddress(text: string): boolean {
  return /^(?:data|https?|file|blob|ftp|gs|s3):/i.test(text)
}

/** Base64 of a file of one of the four types, by its beginning. */
const bareImage = /^(?:iVBORw0KGgo|\/9j\/[24]|R0lGOD[dl]h|UklGR[A-P])[A-Za-z0-9+/\r\n]{40,}/

/** Whether a text without a data URL's head is base64 of an image. */
export function isBareImage(text: string): boolean {
  return text.length > 64 && bareImage.test(text)
}

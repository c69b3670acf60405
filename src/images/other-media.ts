/**
 * Audio, video and documents in a request: refused, as their base64 would be read as text.
 *
 * @module
 */

import { isJsonObject, type Json, type JsonObject } from '../api/json.js'
import { mediaTypeOf } from './image-forms.js'

/** Types that only blocks of clients have; the content is the member of that name. */
const ofClients: Readonly<Record<string, string>> = {
  input_audio: 'audio',
  audio_url: 'audio',
  input_video: 'video',
  video_url: 'video',
  document_url: 'a document',
}
/** Types that a caller's own data may have as well. */
const common: Readonly<Record<string, string>> = {
  audio: 'audio',
  video: 'video',
  document: 'a document',
}
const carriers = ['data', 'base64', 'url', 'file_data', 'file_id', 'content']

/**
 * What a block carries; undefined for other objects. Data that only mention such a thing, such as
 * `{"type":"document","title":"Invoice"}` or a page's `{"type":"video","url":…}`, are data.
 */
export function mediaOf(object: JsonObject): string | undefined {
  const { type, source, data, base64 } = object
  if (typeof type !== 'string') return undefined
  if (Object.hasOwn(ofClients, type)) {
    const content = object[type]
    return typeof content === 'string' || isJsonObject(content) ? ofClients[type] : undefined
  }
  if (!Object.hasOwn(common, type)) return undefined
  const typed = mediaTypeOf(object) !== undefined && typeof (data ?? base64) === 'string'
  return typed || carries(source) || carries(object[type]) ? common[type] : undefined
}

function carries(holder: Json | undefined): boolean {
  return isJsonObject(holder) && carriers.some((name) => typeof holder[name] === 'string')
}

/** A data URL, with its media type; longer heads are none. */
const dataUrl = /^\s*data:([\w.+-]{1,80}\/[\w.+-]{1,80})((?:;[^,;]{0,80}){0,8}),/i

/** The media type of a text that is entirely a data URL of something else than an image or text. */
export function mediaOfUrl(text: string): string | undefined {
  const [, type = '', parameters = ''] = dataUrl.exec(text) ?? []
  if (type === '' || /^image\//i.test(type)) return undefined
  const isText = /^(?:text\/|application\/json$)/i.test(type) && !/;\s*base64$/i.test(parameters)
  return isText ? undefined : type
}

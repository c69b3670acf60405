/**
 * Compresses whole replies for requests that accept it.
 *
 * Rules
 *   1. Only text is compressed. A handler that gives bytes has chosen their coding already.
 *   2. Short text is sent uncompressed, unless the request refuses that.
 *   3. Long text is compressed in node:zlib's own threads, except errors, which are compressed at
 *      once, as more of the request's body may still arrive.
 *   4. A reply is never lost: if it cannot be compressed, it is sent uncompressed.
 *
 * @module
 */

import { refusesPlain, replyCodingOf } from './reply-coding.js'
import type { Content } from '../contract.js'

/**
 * From this length on a packet is saved, for some 20 µs: a gain on networks of up to 500 Mbit/s,
 * and from 5 KB on up to 1 Gbit/s.
 */
const leastLength = 2048
/** Compressed in at most .2 ms. */
const atOnceBytes = 32_768

/**
 * The header of replies whose coding depends on the request, so that a cache keeps one per coding.
 */
export const varies = ['vary', 'accept-encoding'] as const

/** @param accepts - The value of `Accept-Encoding`, `''` if there is none. */
export function codedContent(content: Content, accepts: string): Content | Promise<Content> {
  const { status, body } = content
  if (typeof body !== 'string' || body === '') return content
  if (body.length < leastLength && (accepts === '' || !refusesPlain(accepts))) return content
  const headers = [...(content.headers ?? []), ...varies]
  const plain: Content = { ...content, headers }
  const coding = replyCodingOf(accepts)
  if (coding === undefined) return plain
  const coded = (bytes: Uint8Array): Content => {
    return { ...content, headers: [...headers, 'content-encoding', coding.name], body: bytes }
  }
  const bytes = Buffer.from(body)
  if (bytes.length > atOnceBytes && status < 400) {
    return new Promise((resolve) => {
      coding.compressLater(bytes, (error, out) => resolve(error ? plain : coded(out)))
    })
  }
  try {
    return coded(coding.compress(bytes))
  } catch {
    return plain
  }
}

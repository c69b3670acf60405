/**
 * Reads JSON text. Refuses exactly what `JSON.parse` refuses, and also nesting deeper than 64 and
 * unpaired surrogates.
 *
 * @module
 */

import { isUtf8 } from 'node:buffer'
import { OiError } from '../errors.js'
import { invalid, Reader } from './json-reader.js'
import type { Json } from './json-value.js'
import type { ScopedQuestions } from './known-questions.js'
import type { Steps } from './turns.js'

export {
  duplicateKeyOf,
  entriesOf,
  hasOwnOrder,
  isJsonObject,
  isLarge,
  isShared,
  keysOf,
  maxDepth,
  member,
  objectFromEntries,
  RawNumber,
  stringifyJson,
} from './json-value.js'
export type { Json, JsonObject } from './json-value.js'

/**
 * Reads one JSON text.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID`, with the position (UTF-16 units, from 0).
 * @example
 * ```ts
 * keysOf(parseJson('{"b":1,"10":2,"9":3}')) // ['b', '10', '9']
 * ```
 */
export function parseJson(text: string): Json {
  requirePairs(text)
  const reader = new Reader(text)
  reader.read(Infinity)
  return reader.result
}

/** As {@link parseJson}, in steps. @param known - Known `questions`; new ones are noted there. */
export function* parseInSteps(text: string, known?: ScopedQuestions): Steps<Json> {
  requirePairs(text)
  const reader = new Reader(text, known)
  while (!reader.read(valuesPerStep)) yield
  return reader.result
}

function requirePairs(text: string): void {
  if (text.isWellFormed()) return
  // With the flag u, a pair is one character, so only an unpaired half matches.
  throw invalid('unpaired surrogate', text.search(/\p{Surrogate}/u))
}

/** This many take a fraction of a millisecond. */
const valuesPerStep = 1000

/**
 * Bytes to text. A byte order mark is kept, so that the reader refuses it.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` if the bytes are not UTF-8.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new OiError('ERR_BODY_INVALID', 'body: expected UTF-8')
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

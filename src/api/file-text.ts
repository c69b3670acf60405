/**
 * Text and JSON of a user's file. Some editors and spreadsheets begin a file with a byte order
 * mark, which is skipped; a request's body may not have one.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { decodeUtf8, type Json, parseJson } from './json.js'

const utf8Mark = [0xef, 0xbb, 0xbf]
const utf16Marks = [
  [0xff, 0xfe],
  [0xfe, 0xff],
]

/** @throws {@link OiError} `ERR_BODY_INVALID` if it is not UTF-8; the message names no file. */
export function fileText(bytes: Uint8Array): string {
  const beginsWith = (mark: readonly number[]) => mark.every((byte, i) => bytes[i] === byte)
  if (utf16Marks.some(beginsWith)) {
    throw new OiError('ERR_BODY_INVALID', 'body: this is UTF-16, expected UTF-8')
  }
  return decodeUtf8(beginsWith(utf8Mark) ? bytes.subarray(utf8Mark.length) : bytes)
}

/**
 * Errors say line and column.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID`; the message names no file.
 */
export function parseJsonFile(text: string): Json {
  try {
    return parseJson(text)
  } catch (cause) {
    const message = (cause as OiError).message
      .replace(/^body: /, '')
      .replace(/position (\d+)$/, (_, at) => placeIn(text, Number(at)))
    throw new OiError('ERR_BODY_INVALID', message, { cause })
  }
}

/** Line and column, both from 1. */
function placeIn(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n')
  return `line ${lines.length}, column ${lines.at(-1)!.length + 1}`
}

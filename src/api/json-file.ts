/**
 * JSON of a file: errors say line and column.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { type Json, parseJson } from './json.js'

/** @throws {@link OiError} `ERR_BODY_INVALID`; the message names no file. */
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

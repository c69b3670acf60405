/**
 * Lines of texts of any length, one at a time.
 *
 * @module
 */

import { fileText } from '../../api/file-text.js'
import { decodeUtf8 } from '../../api/json.js'
import { OiError } from '../../errors.js'

export interface Line {
  /** From 1; empty lines count. */
  readonly number: number
  /** Without its end, never empty. */
  readonly text: string
  /** False for a last line without its end. */
  readonly ended: boolean
}

const lineFeed = 10
/** As long as the largest body of a server: 64 MiB. */
export const longestLine = 64 * 2 ** 20

/**
 * Lines that are not empty. Memory: one line and one piece.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` naming the line, if one is not UTF-8 or longer than
 *   {@link longestLine}; what `pieces` throws.
 */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Line, void, undefined> {
  let number = 1
  // Joined once at the line's end, so that a long line is not copied for each piece.
  let begun: Uint8Array[] = []
  let begunBytes = 0
  const take = (part: Uint8Array) => {
    begunBytes += part.byteLength
    if (begunBytes > longestLine) {
      throw inLine(number, new OiError('ERR_BODY_INVALID', `expected at most ${longestLine} bytes`))
    }
    // Most lines lie within one piece and need no join.
    if (part.byteLength > 0) begun.push(part)
  }
  const finish = (): string => {
    const bytes = begun.length === 1 ? begun[0]! : Buffer.concat(begun)
    begun = []
    begunBytes = 0
    try {
      return number === 1 ? fileText(bytes) : decodeUtf8(bytes)
    } catch (error) {
      throw inLine(number, error)
    }
  }
  for await (const piece of pieces) {
    let start = 0
    for (;;) {
      const end = piece.indexOf(lineFeed, start)
      if (end === -1) break
      take(piece.subarray(start, end))
      const text = finish()
      if (text.trim() !== '') yield { number, text, ended: true }
      number++
      start = end + 1
    }
    take(piece.subarray(start))
  }
  const text = finish()
  if (text.trim() !== '') yield { number, text, ended: false }
}

/** What a place counts, if not lines: the items of a JSON array. */
export type PlaceUnit = 'item'

/** Puts the place before the message of an {@link OiError}; other errors stay unchanged. */
export function inPlace(unit: PlaceUnit | undefined, number: number, error: unknown): unknown {
  if (!(error instanceof OiError)) return error
  const { code, message, param } = error
  const place = param === undefined ? {} : { param }
  return new OiError(code, `${unit ?? 'line'} ${number}: ${message}`, { ...place, cause: error })
}

export function inLine(number: number, error: unknown): unknown {
  return inPlace(undefined, number, error)
}

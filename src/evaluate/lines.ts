/**
 * Lines of a file of any length, one at a time.
 *
 * @module
 */

import { createReadStream } from 'node:fs'
import { fileText } from '../api/file-text.js'
import { decodeUtf8 } from '../api/json.js'
import { OiError } from '../errors.js'

export interface Line {
  /** From 1; empty lines count. */
  readonly number: number
  /** Without its end, never empty. */
  readonly text: string
  /** False of a last line without its end. */
  readonly ended: boolean
}

const lineFeed = 10
/** As much as a server takes as one body at most: 64 MiB. */
export const longestLine = 64 * 2 ** 20
const pieceBytes = 256 * 2 ** 10

/**
 * The bytes of a file in pieces.
 *
 * @throws {@link OiError} `ERR_CONFIG` if it cannot be read.
 */
export async function* piecesOf(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* createReadStream(path, { highWaterMark: pieceBytes })
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? 'there is no such file' : message
    throw new OiError('ERR_CONFIG', `${path}: ${reason}`, { cause })
  }
}

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
  // Joined once at the line's end: a long line in many pieces is not copied again and again.
  let begun: Uint8Array[] = []
  let begunBytes = 0
  const take = (part: Uint8Array) => {
    begunBytes += part.byteLength
    if (begunBytes > longestLine) {
      throw inLine(number, new OiError('ERR_BODY_INVALID', `expected at most ${longestLine} bytes`))
    }
    // Alone it is most lines, and need not be joined.
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

/** The same error with the line before its message; what is no {@link OiError} as it is. */
export function inLine(number: number, error: unknown): unknown {
  if (!(error instanceof OiError)) return error
  const { code, message, param } = error
  const place = param === undefined ? {} : { param }
  return new OiError(code, `line ${number}: ${message}`, { ...place, cause: error })
}

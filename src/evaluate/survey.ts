/**
 * A first pass over a labelled file, before anything is asked: whether every line is good, how
 * many there are, and which file it is.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { RequestLimits } from '../api/read-request.js'
import { piecesOf } from './lines.js'
import { rowsOf } from './rows.js'

export interface Survey {
  readonly rows: number
  /** `sha256:` and 64 hex digits of the file. */
  readonly digest: string
}

/**
 * @param onProgress - Told how much has been read, 0 to 1.
 * @throws {@link OiError} As {@link readRows}: the first bad line.
 */
export async function surveyRows(
  path: string,
  limits: RequestLimits,
  onProgress: (fraction: number) => void = () => {},
): Promise<Survey> {
  const hash = createHash('sha256')
  // What cannot be read is named by piecesOf.
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  )
  let read = 0
  async function* hashed() {
    for await (const piece of piecesOf(path)) {
      hash.update(piece)
      read += piece.byteLength
      onProgress(Math.min(1, read / Math.max(1, size)))
      yield piece
    }
  }
  const each = rowsOf(hashed(), limits)
  let rows = 0
  while (!(await each.next()).done) rows++
  return { rows, digest: `sha256:${hash.digest('hex')}` }
}

/**
 * A first pass over a labelled file, before anything is asked: whether every line is good, how
 * many there are, and which file it is.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { keysOf } from '../api/json.js'
import type { RequestLimits } from '../api/counts.js'
import { piecesOf } from './lines.js'
import { rowsOf } from './rows.js'
import type { LabelledRow } from './types.js'

export interface SurveyOptions {
  readonly others?: Iterable<string>
  readonly onProgress?: (fraction: number) => void
}

export interface Survey {
  readonly rows: number
  /** `sha256:` and 64 hex digits of the file. */
  readonly digest: string
  /** Those of the names asked for that no labelled choice has as an option. */
  readonly missing: readonly string[]
}

/**
 * @param options - `others`: names of options that are looked for. `onProgress`: told how much has
 *   been read, 0 to 1.
 * @throws {@link OiError} As {@link readRows}: the first bad line.
 */
export async function surveyRows(
  path: string,
  limits: RequestLimits,
  { others = [], onProgress = () => {} }: SurveyOptions = {},
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
  const missing = new Set(others)
  for await (const row of each) {
    rows++
    if (missing.size > 0) for (const name of optionNames(row)) missing.delete(name)
  }
  return { rows, digest: `sha256:${hash.digest('hex')}`, missing: [...missing] }
}

/** Of the choices whose right answer is known. */
function optionNames({ request, expected }: LabelledRow): string[] {
  return keysOf(expected).flatMap((name) => {
    const question = request.questions[name]!
    return question.type === 'choice' ? keysOf(question.criteria) : []
  })
}

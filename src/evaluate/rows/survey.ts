/**
 * The first reading of labelled rows, before any request: checks, counts and hashes them.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { keysOf } from '../../api/json.js'
import type { RequestLimits } from '../../api/counts.js'
import { OiError } from '../../errors.js'
import { readEach } from './records.js'
import type { RowsFile } from './rows-file.js'
import type { AskedRow, LabelledRow } from './types.js'

interface SurveyOptions<Row> {
  /** Refuses a row for further reasons. */
  readonly check?: ((row: Row) => void) | undefined
  readonly others?: Iterable<string>
  readonly onProgress?: (fraction: number) => void
}

export interface Survey {
  readonly rows: number
  /** `sha256:` and 64 hex digits of all contents, and of the questions beside them before. */
  readonly digest: string
  /** Names in `others` that no labelled choice has as an option. */
  readonly missing: readonly string[]
}

/**
 * @param options - `others`: names of options to look for. `onProgress`: called with the read
 *   fraction, 0 to 1, if the size is known.
 * @throws {@link OiError} `ERR_CONFIG` if there is no row; as the file's reader: the first bad row.
 */
export async function surveyRows<Row extends AskedRow & Partial<LabelledRow>>(
  file: RowsFile<Row>,
  limits: RequestLimits,
  { others = [], onProgress = () => {}, check = () => {} }: SurveyOptions<Row> = {},
): Promise<Survey> {
  const hash = createHash('sha256').update(file.reader.identity)
  async function* hashed() {
    for await (const piece of file.pieces()) {
      hash.update(piece)
      if (file.share !== undefined) onProgress(file.share)
      yield piece
    }
  }
  let rows = 0
  const missing = new Set(others)
  const checked = (row: Row) => {
    check(row)
    return row
  }
  for await (const row of readEach(file.reader.rows(hashed(), limits), checked)) {
    rows++
    if (missing.size > 0) for (const name of optionNames(row)) missing.delete(name)
  }
  if (rows === 0) throw new OiError('ERR_CONFIG', `${file.name}: expected at least one row`)
  return { rows, digest: `sha256:${hash.digest('hex')}`, missing: [...missing] }
}

/** Names of the options of all labelled choices. */
function optionNames({ request, expected = {} }: AskedRow & Partial<LabelledRow>): string[] {
  return keysOf(expected).flatMap((name) => {
    const question = request.questions[name]!
    return question.type === 'choice' ? keysOf(question.criteria) : []
  })
}

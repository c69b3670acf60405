/**
 * `oi eval --rows-out`: every row with its answers, and whether they are right.
 *
 * @module
 */

import { closeSync, openSync, writeSync } from 'node:fs'
import { keysOf } from '../../api/json.js'
import type { DecideRequest } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import { EarlierRecords } from '../../evaluate/rows/earlier-records.js'
import type { Journal } from '../../evaluate/journal.js'
import type { RowRecord } from '../../evaluate/measure.js'
import type { InOrder } from '../../evaluate/run.js'
import type { AskedRow, LabelledRow } from '../../evaluate/rows/types.js'
import { RowsOut } from '../output/rows-out.js'

export class EvaluatedRows {
  readonly #path: string
  readonly #rows: RowsOut
  #file: number | undefined

  /** @param questions - Those beside the rows of a table. */
  constructor(path: string, questions: DecideRequest['questions'] | undefined) {
    this.#path = path
    this.#rows = new RowsOut(questions ? keysOf(questions) : [], false, true)
  }

  /** Refuses a row that has no room for its answers. */
  check = ({ record }: AskedRow): void => this.#rows.requireFree(record)

  /** Begins the file. */
  inOrder(journal: Journal | undefined): InOrder<LabelledRow, RowRecord> {
    this.#do(() => (this.#file = openSync(this.#path, 'w')))
    const earlier = journal && new EarlierRecords(journal.earlier())
    return {
      earlier: (line) => earlier!.take(line),
      write: async ({ record }, result) => {
        const graded = 'refused' in result ? [] : result.outcomes
        const grades = new Map(graded.map(({ question, correct }) => [question, correct]))
        this.#write(this.#rows.row(record, result, grades))
      },
    }
  }

  /** Ends the file, if it was begun. */
  close(): void {
    if (this.#file === undefined) return
    this.#write(this.#rows.end())
    closeSync(this.#file)
  }

  #write(text: string): void {
    const bytes = Buffer.from(text)
    // A nearly full disk takes a part; the next write then fails with the reason.
    this.#do(() => {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#file!, bytes, at)
    })
  }

  #do(work: () => void): void {
    try {
      work()
    } catch (cause) {
      const { message } = cause as Error
      throw new OiError('ERR_INVALID_ARGUMENT', `--rows-out: ${message}`, { cause })
    }
  }
}

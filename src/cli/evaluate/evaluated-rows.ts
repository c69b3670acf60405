/**
 * `oi eval --rows-out`: every row with its answers, and whether they are right.
 *
 * @module
 */

import { closeSync, openSync } from 'node:fs'
import { keysOf } from '../../api/json.js'
import type { DecideRequest } from '../../decide/types.js'
import { EarlierRecords } from '../../evaluate/rows/earlier-records.js'
import type { Journal } from '../../evaluate/journal.js'
import type { RowRecord } from '../../evaluate/measure.js'
import type { InOrder } from '../../evaluate/run.js'
import { writeText } from '../../evaluate/rows/rows-file.js'
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
    this.#file = openSync(this.#path, 'w')
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
    writeText(this.#file!, text, '--rows-out')
  }
}

/**
 * Asks labelled rows, several at a time.
 *
 * @module
 */

import type { DecideOptions, DecideRequest } from '../decide/types.js'
import { inLine } from '../evaluate/lines.js'
import { observationsOf } from '../evaluate/observe.js'
import type { LabelledRow, Reply } from '../evaluate/types.js'
import { groupNearCopies, sketchOf, type SketchedRow } from './near-copies.js'
import type { RowObservation } from './sample.js'
import { rowKey } from './split.js'

/** Rows asked at the same time: enough to fill the model's steps. */
const window = 16

interface AskedRow extends SketchedRow {
  readonly observations: readonly Omit<RowObservation, 'row'>[]
}

/**
 * Observes every question with a right answer, in the order of the rows. Rows with the same state,
 * or near copies of it, have one name.
 *
 * @param onRow - Called with the number of answered rows.
 * @throws {@link OiError} For the first row that cannot be read or answered, with its line.
 */
export async function askRows(
  rows: AsyncIterable<LabelledRow>,
  decide: (request: DecideRequest, options: DecideOptions) => Promise<Reply>,
  onRow: (count: number) => void = () => {},
): Promise<RowObservation[]> {
  const answered: AskedRow[] = []
  const running: Promise<AskedRow>[] = []
  const takeOldest = async () => {
    answered.push(await running.shift()!)
    onRow(answered.length)
  }
  for await (const row of rows) {
    const asked = askRow(row, decide)
    // Rows behind the first failure are not waited for.
    asked.catch(() => {})
    running.push(asked)
    if (running.length >= window) await takeOldest()
  }
  while (running.length > 0) await takeOldest()
  const groups = groupNearCopies(answered)
  return answered.flatMap(({ row, observations }) =>
    observations.map((observation) => ({ ...observation, row: groups.get(row)! })),
  )
}

async function askRow(
  row: LabelledRow,
  decide: (request: DecideRequest, options: DecideOptions) => Promise<Reply>,
): Promise<AskedRow> {
  try {
    const decision = await decide(row.request, { evidence: true })
    return {
      row: rowKey(row.request),
      sketch: sketchOf(row.request),
      observations: observationsOf(row, decision).map(
        ({ question, type, logits, probabilities, right }) => {
          return { question, type, logits, probabilities, right }
        },
      ),
    }
  } catch (error) {
    throw inLine(row.line, error)
  }
}

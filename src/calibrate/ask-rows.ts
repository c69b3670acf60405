/**
 * Asks labelled rows, several at a time.
 *
 * @module
 */

import type { DecideOptions, DecideRequest } from '../decide/types.js'
import { inLine } from '../evaluate/lines.js'
import { observationsOf } from '../evaluate/observe.js'
import type { LabelledRow, Reply } from '../evaluate/types.js'
import type { CalibrationSource } from '../scoring/calibration.js'
import { groupNearCopies, sketchOf, type SketchedRow } from './near-copies.js'
import { onAnswered } from './on-top.js'
import type { RowObservation } from './sample.js'
import { rowKey } from './split.js'

/** Rows asked at the same time: enough to fill the model's steps. */
const window = 16

interface AskedRow extends SketchedRow {
  readonly observations: readonly Omit<RowObservation, 'row'>[]
}

interface AskOptions {
  readonly own?: CalibrationSource
  readonly onRow?: (count: number) => void
}

/**
 * Observes every question with a right answer, in the order of the rows. Rows with the same state,
 * or near copies of it, have one name.
 *
 * @param options - `own`: the model's own temperatures. `onRow`: called with the number of answered
 *   rows.
 * @throws {@link OiError} For the first row that cannot be read or answered, with its line.
 */
export async function askRows(
  rows: AsyncIterable<LabelledRow>,
  decide: (request: DecideRequest, options: DecideOptions) => Promise<Reply>,
  { own = () => undefined, onRow = () => {} }: AskOptions = {},
): Promise<RowObservation[]> {
  const answered: AskedRow[] = []
  const running: Promise<AskedRow>[] = []
  const takeOldest = async () => {
    answered.push(await running.shift()!)
    onRow(answered.length)
  }
  for await (const row of rows) {
    const asked = askRow(row, decide, own)
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
  own: CalibrationSource,
): Promise<AskedRow> {
  try {
    const decision = await decide(row.request, { evidence: true })
    return {
      row: rowKey(row.request),
      sketch: sketchOf(row.request),
      observations: observationsOf(row, decision).map(
        ({ question, type, logits, probabilities, right }) =>
          onAnswered({ question, type, logits, probabilities, right }, own),
      ),
    }
  } catch (error) {
    throw inLine(row.line, error)
  }
}

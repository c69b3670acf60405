/**
 * Asks labelled rows, several at a time.
 *
 * @module
 */

import type { DecideRequest } from '../../decide/types.js'
import { observationsOf } from '../observe.js'
import { runRows } from '../run.js'
import type { LabelledRow, Reply } from '../rows/types.js'
import type { CalibrationSource } from '../../scoring/calibration.js'
import { groupNearCopies, sketchOf, type SketchedRow } from './near-copies.js'
import { onAnswered } from './on-top.js'
import type { RowObservation } from './sample.js'
import { rowKey } from './split.js'

/** Rows asked at the same time: enough to fill the model's steps. */
const window = 16

interface AskedRow extends SketchedRow {
  readonly line: number
  readonly observations: readonly Omit<RowObservation, 'row'>[]
}

/** Answers a row's request, with its evidence. */
type Decide = (request: DecideRequest, signal: AbortSignal) => Promise<Reply>

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
 * @throws {@link OiError} For a row that cannot be read or answered, with its place.
 */
export async function askRows(
  rows: AsyncIterable<LabelledRow>,
  decide: Decide,
  { own = () => undefined, onRow = () => {} }: AskOptions = {},
): Promise<RowObservation[]> {
  const answered: AskedRow[] = []
  await runRows(rows, {
    concurrency: window,
    measure: (row, signal) => askRow(row, decide, own, signal),
    onRecord: (asked) => onRow(answered.push(asked)),
  })
  answered.sort((one, other) => one.line - other.line)
  const groups = groupNearCopies(answered)
  return answered.flatMap(({ row, observations }) =>
    observations.map((observation) => ({ ...observation, row: groups.get(row)! })),
  )
}

async function askRow(
  row: LabelledRow,
  decide: Decide,
  own: CalibrationSource,
  signal: AbortSignal,
): Promise<AskedRow> {
  const decision = await decide(row.request, signal)
  return {
    line: row.line,
    row: rowKey(row.request),
    sketch: sketchOf(row.request),
    observations: observationsOf(row, decision).map(
      ({ question, type, logits, probabilities, right }) =>
        onAnswered({ question, type, logits, probabilities, right }, own),
    ),
  }
}

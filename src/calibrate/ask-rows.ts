/**
 * Labelled rows, asked several at a time.
 *
 * @module
 */

import type { DecideOptions, DecideRequest, Decision } from '../decide/types.js'
import { inLine } from '../evaluate/lines.js'
import { observationsOf } from '../evaluate/observe.js'
import type { LabelledRow } from '../evaluate/types.js'
import type { RowObservation } from './sample.js'
import { rowKey } from './split.js'

/** Rows under way at the same time: enough to fill the model's steps. */
const window = 16

/**
 * What the model says about every question with a right answer, in the order of the rows.
 *
 * @param onRow - Told how many rows have been answered.
 * @throws {@link OiError} Of the first row that cannot be read or answered, with its line.
 */
export async function askRows(
  rows: AsyncIterable<LabelledRow>,
  decide: (request: DecideRequest, options: DecideOptions) => Promise<Decision>,
  onRow: (count: number) => void = () => {},
): Promise<RowObservation[]> {
  const observations: RowObservation[] = []
  const running: Promise<RowObservation[]>[] = []
  let count = 0
  const takeOldest = async () => {
    observations.push(...(await running.shift()!))
    onRow(++count)
  }
  for await (const row of rows) {
    const asked = askRow(row, decide)
    // Those behind the first that fails are not waited for.
    asked.catch(() => {})
    running.push(asked)
    if (running.length >= window) await takeOldest()
  }
  while (running.length > 0) await takeOldest()
  return observations
}

async function askRow(
  row: LabelledRow,
  decide: (request: DecideRequest, options: DecideOptions) => Promise<Decision>,
): Promise<RowObservation[]> {
  try {
    const decision = await decide(row.request, { evidence: true })
    const key = rowKey(row.request)
    return observationsOf(row, decision).map(
      ({ question, type, logits, probabilities, right }) => ({
        ...{ question, type, logits, probabilities, right },
        row: key,
      }),
    )
  } catch (error) {
    throw inLine(row.line, error)
  }
}

/**
 * Measures many rows at the same time.
 *
 * @module
 */

import { setMaxListeners } from 'node:events'
import { inLine } from './lines.js'
import type { RowRecord } from './measure.js'
import type { LabelledRow } from './types.js'

export interface RunOptions {
  /** Rows that are asked at the same time. */
  readonly concurrency: number
  readonly measure: (row: LabelledRow, signal: AbortSignal) => Promise<RowRecord>
  /** Called in the order in which rows finish. */
  readonly onRecord: (record: RowRecord) => void
  /** Whether the row of a line is finished already. */
  readonly isDone?: (line: number) => boolean
  /** Ends the run early: running requests are dropped. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Measures every row. At most `concurrency` rows are in memory.
 *
 * @returns False if the signal ended it early.
 * @throws The first error, after all running requests have ended; an {@link OiError} has its line
 *   before its message.
 */
export async function runRows(
  rows: AsyncIterable<LabelledRow>,
  { concurrency, measure, onRecord, isDone = () => false, signal }: RunOptions,
): Promise<boolean> {
  const stop = new AbortController()
  // Each running row listens to it, which is no leak.
  setMaxListeners(0, stop.signal)
  const onAbort = () => stop.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  const iterator = rows[Symbol.asyncIterator]()
  const failures: unknown[] = []

  const fail = (error: unknown) => {
    // Dropped requests fail too, but only because of the abort.
    if (!stop.signal.aborted) failures.push(error)
    stop.abort()
  }
  const work = async () => {
    while (!stop.signal.aborted) {
      const next = await iterator.next()
      if (next.done || stop.signal.aborted) return
      const row = next.value
      if (isDone(row.line)) continue
      const record = await measure(row, stop.signal).catch((error: unknown) => {
        throw inLine(row.line, error)
      })
      onRecord(record)
    }
  }
  try {
    await Promise.all(Array.from({ length: concurrency }, () => work().catch(fail)))
    await iterator.return?.()
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
  if (failures.length > 0) throw failures[0]
  return !signal?.aborted
}

/** The first of them. */
export async function* firstRows(
  rows: AsyncIterable<LabelledRow>,
  count: number,
): AsyncGenerator<LabelledRow, void, undefined> {
  if (count === 0) return
  let left = count
  for await (const row of rows) {
    yield row
    if (--left === 0) return
  }
}

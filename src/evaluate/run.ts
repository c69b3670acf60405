/**
 * Asks many rows at the same time.
 *
 * @module
 */

import { setMaxListeners } from 'node:events'
import { inPlace } from './rows/lines.js'
import type { Place } from './rows/records.js'

export interface RunOptions<Row extends Place, Result> {
  /** Rows that are asked at the same time. */
  readonly concurrency: number
  readonly measure: (row: Row, signal: AbortSignal) => Promise<Result>
  /** Called in the order in which rows finish. */
  readonly onRecord: (record: Result) => void
  /** Whether the row of a line is finished already. */
  readonly isDone?: (line: number) => boolean
  readonly inOrder?: InOrder<Row, Result> | undefined
  /** Ends the run early: running requests are dropped. */
  readonly signal?: AbortSignal | undefined
}

/** What is done with the rows in their order in the file, those that were finished already too. */
export interface InOrder<Row, Result> {
  /** Called for each row when it has returned for the row before. A failure ends the run. */
  write(row: Row, record: Result): Promise<void>
  /** The record of a row that was finished already. */
  earlier(line: number): Promise<Result>
}

/** Rows that wait for a slow one before them, for each that is asked at the same time. */
const waitingRows = 8

/**
 * Asks every row. At most `concurrency` rows are in memory, with `inOrder` some times as many.
 *
 * @returns False if the signal ended it early.
 * @throws The first error, after all running requests have ended; an {@link OiError} has its place
 *   before its message.
 */
export async function runRows<Row extends Place, Result>(
  rows: AsyncIterable<Row>,
  options: RunOptions<Row, Result>,
): Promise<boolean> {
  const { concurrency, measure, onRecord, isDone = () => false, inOrder, signal } = options
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
  const ask = async (row: Row) => {
    const record = await measure(row, stop.signal).catch((error: unknown) => {
      throw inPlace(row.unit, row.line, error)
    })
    onRecord(record)
    return record
  }
  const written = new Written(waitingRows * concurrency)
  const work = async () => {
    while (!stop.signal.aborted) {
      const next = await iterator.next()
      if (next.done || stop.signal.aborted) return
      const row = next.value
      if (inOrder === undefined) {
        if (!isDone(row.line)) await ask(row)
        continue
      }
      const room = written.room()
      const record = room.then(() => (isDone(row.line) ? inOrder.earlier(row.line) : ask(row)))
      written.add(async () => inOrder.write(row, await record)).catch(fail)
      await record
    }
  }
  try {
    await Promise.all(Array.from({ length: concurrency }, () => work().catch(fail)))
    await written.all().catch(fail)
    await iterator.return?.()
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
  if (failures.length > 0) throw failures[0]
  return !signal?.aborted
}

/** Work that is done one after the other, of which a bounded part waits. */
class Written {
  #last: Promise<void> = Promise.resolve()
  #count = 0
  readonly #recent: Promise<void>[] = []
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** Settles when fewer than the most wait. */
  async room(): Promise<void> {
    await this.#recent[this.#count % this.#most]
  }

  /** Behind all before; after a failure, nothing is done. */
  add(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work)
    this.#recent[this.#count++ % this.#most] = this.#last
    return this.#last
  }

  all(): Promise<void> {
    return this.#last
  }
}

/** The first of them. */
export async function* firstRows<Row>(
  rows: AsyncIterable<Row>,
  count: number,
): AsyncGenerator<Row, void, undefined> {
  if (count === 0) return
  let left = count
  for await (const row of rows) {
    yield row
    if (--left === 0) return
  }
}

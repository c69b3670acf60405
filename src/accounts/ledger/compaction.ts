/**
 * Moves old rows of the ledger to another file, and closes them.
 *
 * Their sums stay as closing rows: one per workspace, kind and model. Balances and daily usage do
 * not change.
 *
 * Rules
 *   1. Rows are deleted only after they have been forced to the disk elsewhere, in the transaction
 *      that inserts their closing rows: whenever the process ends, the amounts of all rows equal
 *      the balances. A row may then be in two exports; it is identified by its writer and number.
 *   2. The triggers allow rows to be deleted only before a time in `compactions`, which is there
 *      during such a transaction only.
 *   3. A transaction takes some thousand rows, so a running server's bookings wait for
 *      milliseconds.
 *
 * @module
 */

import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { OiError } from '../../errors.js'
import { type Connection, execute } from '../store/connection.js'
import { takeWriter } from './take-writer.js'

const rowsAtOnce = 5000
const notedAtOnce = 500

export interface Compaction {
  /** Rows that were exported and deleted. */
  readonly rows: number
  /** Closing rows that stand for them. */
  readonly closings: number
}

interface Row {
  readonly writer: number
  readonly number: number
}

const columns = `writer, number, kind, workspace_id, key_id, time_ms, model, rows, input_tokens,
  output_tokens, image_tokens, cached_tokens, cost, amount`

/** A closing row's values, from those of its rows. */
const sums = `kind, workspace_id, model, sum(rows) AS a, sum(input_tokens) AS b,
  sum(output_tokens) AS c, sum(image_tokens) AS d, sum(cached_tokens) AS e, sum(cost) AS f,
  sum(amount) AS g`

/** The time, the export's path, and whether to shrink the file after it. */
export type CompactOptions = readonly [beforeMs: number, path: string, shrink?: boolean]

/**
 * @param beforeMs - Older rows are exported, milliseconds since 1970.
 * @param path - A file that does not exist yet: JSON lines, one per row.
 * @param shrink - Whether to return the space to the disk too: others cannot write meanwhile.
 * @throws {@link OiError} `ERR_ACCOUNTS` if the export cannot be written; `ERR_OVERLOADED` if the
 *   accounts cannot. Completed transactions stay.
 */
export function compact(
  db: Connection,
  ...[beforeMs, path, shrink = false]: CompactOptions
): Compaction {
  const file = exporting(path, () => openSync(path, 'wx', 0o600))
  try {
    const writer = db.write(() => takeWriter(db))
    let rows = 0
    let number = 0
    for (;;) {
      const { moved, last } = db.write(() => {
        const batch = db
          .prepare<[number, number, number], Row>(
            `SELECT ${columns} FROM ledger WHERE time_ms < ? AND writer <> ? LIMIT ?`,
          )
          .all(beforeMs, writer, rowsAtOnce)
        if (batch.length === 0) return { moved: 0, last: number }
        exporting(path, () => append(file, batch))
        return { moved: batch.length, last: close(db, batch, writer, number, beforeMs) }
      })
      if (moved === 0) break
      rows += moved
      number = last
    }
    const closings = rows === 0 ? 0 : db.write(() => merge(db, writer, number, beforeMs))
    if (shrink) execute(db, 'VACUUM')
    return { rows, closings }
  } finally {
    closeSync(file)
  }
}

/** Replaces rows by closing rows. @returns The last number used. */
function close(
  db: Connection,
  batch: readonly Row[],
  writer: number,
  number: number,
  beforeMs: number,
): number {
  db.prepare('CREATE TEMP TABLE IF NOT EXISTS closed (writer BIGINT, number BIGINT)').run()
  db.prepare('DELETE FROM closed').run()
  for (let at = 0; at < batch.length; at += notedAtOnce) {
    const some = batch.slice(at, at + notedAtOnce)
    db.prepare(`INSERT INTO closed VALUES ${some.map(() => '(?, ?)').join(', ')}`).run(
      ...some.flatMap(({ writer, number }) => [writer, number]),
    )
  }
  const here = 'WHERE (writer, number) IN (SELECT writer, number FROM closed)'
  return replace(db, here, [], writer, number, beforeMs)
}

/** Merges all closing rows of this compaction into one per workspace, kind and model. */
function merge(db: Connection, writer: number, number: number, beforeMs: number): number {
  return replace(db, 'WHERE writer = ?', [writer], writer, number, beforeMs) - number
}

function replace(
  db: Connection,
  where: string,
  values: readonly number[],
  writer: number,
  number: number,
  beforeMs: number,
): number {
  // Just before that time, so that a later compaction includes them.
  const closings = db
    .prepare<number[], Record<string, unknown>>(
      `SELECT ${sums} FROM ledger ${where} GROUP BY workspace_id, kind, model`,
    )
    .all(...values)
  db.prepare<[number]>('INSERT INTO compactions VALUES (?)').run(beforeMs)
  db.prepare<number[]>(`DELETE FROM ledger ${where}`).run(...values)
  db.prepare('DELETE FROM compactions').run()
  const insert = db.prepare<unknown[]>(
    `INSERT INTO ledger (writer, number, time_ms, kind, workspace_id, model, rows, input_tokens,
       output_tokens, image_tokens, cached_tokens, cost, amount)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  for (const closing of closings)
    insert.run(writer, ++number, beforeMs - 1, ...Object.values(closing))
  return number
}

function append(file: number, batch: readonly object[]): void {
  const bytes = Buffer.from(batch.map((row) => `${JSON.stringify(row)}\n`).join(''))
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
  fsyncSync(file)
}

function exporting<T>(path: string, write: () => T): T {
  try {
    return write()
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'it exists already: choose another with --export' : message
    throw new OiError('ERR_ACCOUNTS', `Cannot write the rows to ${path}: ${why}`, { cause })
  }
}

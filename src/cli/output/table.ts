/**
 * Lists for people and for machines.
 *
 * @module
 */

import { tableText } from '../../terminal/text-table.js'
import { print } from './print.js'

/** Prints rows as a table, or as a JSON array that keeps every property. */
export function printList<T extends object>(
  rows: readonly T[],
  columns: Readonly<Record<string, (row: T) => string>>,
  json: boolean | undefined,
): void {
  if (json) {
    print(`${JSON.stringify(rows, null, 2)}\n`)
    return
  }
  print(tableText(rows, columns))
}

/** A point in time, UTC, to the second; `-` for none. */
export function showTime(ms: number | null): string {
  return ms === null ? '-' : new Date(ms).toISOString().replace('T', ' ').slice(0, 19)
}

/**
 * Lists for people and for machines.
 *
 * @module
 */

import Table from 'cli-table3'
import { print } from './output/print.js'

/** Prints rows as a table, or as a JSON array that keeps every property. */
export function printList<T extends object>(
  rows: readonly T[],
  columns: Readonly<Record<string, (row: T) => string>>,
  json: boolean | undefined,
): void {
  print(json ? `${JSON.stringify(rows, null, 2)}\n` : tableText(rows, columns))
}

/** A table for people, the last line ended. */
export function tableText<T extends object>(
  rows: readonly T[],
  columns: Readonly<Record<string, (row: T) => string>>,
): string {
  // No colours: the table looks the same in a file.
  const table = new Table({ head: Object.keys(columns), style: { head: [], border: [] } })
  for (const row of rows) table.push(Object.values(columns).map((cell) => cell(row)))
  return `${table.toString()}\n`
}

/** A point in time, UTC, to the second; `-` for none. */
export function showTime(ms: number | null): string {
  return ms === null ? '-' : new Date(ms).toISOString().replace('T', ' ').slice(0, 19)
}

/**
 * Lists for people and for machines.
 *
 * @module
 */

import { textTable } from '../../terminal/text-table.js'
import { print } from '../../terminal/print.js'

export interface ListFlags {
  readonly json?: boolean | undefined
  readonly wide?: boolean | undefined
}

/** A flag of commands with lists. */
export const wideFlag = ['--wide', 'every column, however wide the terminal is'] as const

/**
 * Prints rows as a table, or as a JSON array that keeps every property. On a terminal, the table has
 * as many of its columns as fit; elsewhere all.
 *
 * @param columns - The most important ones first.
 */
export function printList<T extends object>(
  rows: readonly T[],
  columns: Readonly<Record<string, (row: T) => string>>,
  { json = false, wide = false }: ListFlags = {},
): void {
  if (json) {
    print(`${JSON.stringify(rows, null, 2)}\n`)
    return
  }
  const { isTTY, columns: width } = process.stdout
  const { lines, left } = textTable(rows, columns, isTTY && !wide ? width : undefined)
  print(`${lines.join('\n')}\n`)
  if (left.length > 0) print(`(--wide shows ${left.join(', ')} too)\n`)
}

/** A point in time, UTC, to the second; `-` for none. */
export function showTime(ms: number | null): string {
  return ms === null ? '-' : new Date(ms).toISOString().replace('T', ' ').slice(0, 19)
}

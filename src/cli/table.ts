/**
 * Lists for people and for machines.
 *
 * @module
 */

import Table from 'cli-table3'
import { oneLine } from './lay-out.js'
import { print } from './output/print.js'

/** Prints rows as a table, or as a JSON array that keeps every property. */
export function printList<T extends object>(
  rows: readonly T[],
  columns: Readonly<Record<string, (row: T) => string>>,
  json: boolean | undefined,
): void {
  print(json ? `${JSON.stringify(rows, null, 2)}\n` : tableText(rows, columns))
}

/**
 * A table for people, the last line ended. No colours: it looks the same in a file. The library
 * only measures, as its own layout of ten thousand rows takes seconds.
 */
export function tableText<T extends object>(
  rows: readonly T[],
  columns: Readonly<Record<string, (row: T) => string>>,
): string {
  const cells = [
    Object.keys(columns),
    ...rows.map((row) => Object.values(columns).map((cell) => oneLine(cell(row)))),
  ]
  const widths = Object.keys(columns).map((_, i) =>
    cells.reduce((most, row) => Math.max(most, widthOf(row[i]!)), 0),
  )
  const rule = (left: string, middle: string, right: string) =>
    `${left}${widths.map((width) => '─'.repeat(width + 2)).join(middle)}${right}\n`
  const lines = cells.map((row) => {
    const padded = row.map((cell, i) => cell + ' '.repeat(widths[i]! - widthOf(cell)))
    return `│ ${padded.join(' │ ')} │\n`
  })
  return rule('┌', '┬', '┐') + lines.join(rule('├', '┼', '┤')) + rule('└', '┴', '┘')
}

/** Columns of a terminal that a text takes. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  const table = new Table({ style: { head: [], border: [] } })
  table.push([text])
  // The frame around it, and a space on each side.
  return table.toString().split('\n', 1)[0]!.length - 4
}

/** A point in time, UTC, to the second; `-` for none. */
export function showTime(ms: number | null): string {
  return ms === null ? '-' : new Date(ms).toISOString().replace('T', ' ').slice(0, 19)
}

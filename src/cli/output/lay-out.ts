/**
 * Text in columns without borders. Knows wide characters.
 *
 * @module
 */

import Table from 'cli-table3'

interface LayOutOptions {
  /** Widths in characters, with the space behind a column; longer texts are cut off. */
  readonly colWidths?: readonly number[]
  readonly colAligns?: readonly ('left' | 'right')[]
}

/** One line for each row, without spaces at its end. */
export function layOut(
  rows: readonly (readonly string[])[],
  { colWidths = [], colAligns = [] }: LayOutOptions,
): string[] {
  if (rows.length === 0) return []
  const none = ['top', 'bottom', 'mid', 'left', 'right', 'middle'].flatMap((side) => [
    side,
    ...['-mid', '-left', '-right'].map((end) => side + end),
  ])
  const table = new Table({
    chars: Object.fromEntries(none.map((name) => [name, ''])),
    style: { 'padding-left': 0, 'padding-right': 1, head: [], border: [] },
    colWidths: [...colWidths],
    colAligns: [...colAligns],
  })
  table.push(...rows.map((row) => [...row]))
  return table
    .toString()
    .split('\n')
    .map((text) => text.trimEnd())
}

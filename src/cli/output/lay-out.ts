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

/** Text to the left, numbers to the right, two spaces between them. @param texts - Columns of text. */
export function inColumns(rows: readonly (readonly string[])[], texts = 1): string[] {
  const spaced = rows.map((row) => row.map((cell, i) => (i < texts ? `${cell} ` : ` ${cell}`)))
  const colAligns = rows[0]!.map((_, i) => (i < texts ? ('left' as const) : ('right' as const)))
  return layOut(spaced, { colAligns })
}

/** A text from data, in one line of this length. */
export function shortName(text: string, most = 30): string {
  const shown = oneLine(text)
  return shown.length <= most ? shown : `${shown.slice(0, most - 1)}…`
}

/** Removes control characters: a name must not move the cursor. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
}

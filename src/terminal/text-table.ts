/**
 * Tables as text.
 *
 * Drawn here and not by cli-table3, which draws the others: it takes seven seconds for 10,000 rows,
 * as it compares each row with all rows above.
 *
 * @module
 */

import stringWidth from 'string-width'

/** Rows as a table; the last line has its end. */
export function tableText<T extends object>(
  rows: readonly T[],
  columns: Readonly<Record<string, (row: T) => string>>,
): string {
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)))
  return `${drawTable([Object.keys(columns), ...cells])}\n`
}

/** A table with borders; the first row is its head. */
export function drawTable(rows: readonly (readonly string[])[]): string {
  const texts = rows.map((row) => row.map(oneLine))
  const lengths = texts.map((row) => row.map(widthOf))
  const widths = rows[0]!.map((_, column) =>
    lengths.reduce((most, row) => Math.max(most, row[column]!), 0),
  )
  const border = ([left, middle, right]: readonly [string, string, string]) =>
    left + widths.map((width) => '─'.repeat(width + 2)).join(middle) + right
  const lines = texts.map((row, i) => {
    const padded = row.map((text, j) => ` ${text}${' '.repeat(widths[j]! - lengths[i]![j]!)} `)
    return `│${padded.join('│')}│`
  })
  const between = `\n${border(['├', '┼', '┤'])}\n`
  return [border(['┌', '┬', '┐']), lines.join(between), border(['└', '┴', '┘'])].join('\n')
}

/** Width in columns of a terminal. ASCII, the common case, has one per character. */
function widthOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : stringWidth(text)
}

/** Removes control characters: a name must not move the cursor. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
}

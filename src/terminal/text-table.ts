/**
 * Texts in columns, without rules. Knows wide characters and colours.
 *
 * @module
 */

import stringWidth from 'string-width'

interface LayOutOptions {
  /** Widths in columns of a terminal; longer texts are cut off. Default: as wide as the texts. */
  readonly widths?: readonly (number | undefined)[]
  /** Default: left. */
  readonly aligns?: readonly ('left' | 'right')[]
  /** Between two columns. Default 2. */
  readonly gap?: number
}

/** One line for each row, without spaces at its end. */
export function layOut(
  rows: readonly (readonly string[])[],
  { widths = [], aligns = [], gap = 2 }: LayOutOptions = {},
): string[] {
  const columns = widthsOf(rows).map((most, i) => widths[i] ?? most)
  const between = ' '.repeat(gap)
  return rows.map((row) =>
    row
      .map((cell, i) => {
        const text = widths[i] === undefined ? cell : cutTo(cell, widths[i])
        const spaces = ' '.repeat(columns[i]! - widthOf(text))
        return aligns[i] === 'right' ? spaces + text : text + spaces
      })
      .join(between)
      .trimEnd(),
  )
}

/** Text to the left, numbers to the right. @param texts - The number of columns of text. */
export function inColumns(rows: readonly (readonly string[])[], texts = 1): string[] {
  return layOut(rows, { aligns: rows[0]!.map((_, i) => (i < texts ? 'left' : 'right')) })
}

/** A text from data, in one line of this length. */
export function shortName(text: string, most = 30): string {
  const shown = oneLine(text)
  return shown.length <= most ? shown : `${shown.slice(0, most - 1)}…`
}

interface TextTable {
  /** A line for the heads, and one for each row. */
  readonly lines: readonly string[]
  /** Columns for which there was no room: the last ones. */
  readonly left: readonly string[]
}

/** @param most - Columns of the terminal; the first column of the table is always there. */
export function textTable<T extends object>(
  rows: readonly T[],
  columns: Readonly<Record<string, (row: T) => string>>,
  most = Infinity,
): TextTable {
  const heads = Object.keys(columns)
  const cells = rows.map((row) => Object.values(columns).map((cell) => oneLine(cell(row))))
  const all = [heads, ...cells]
  let shown = 0
  let width = -2
  for (const own of widthsOf(all)) {
    width += own + 2
    if (width > most && shown > 0) break
    shown++
  }
  return { lines: layOut(all.map((row) => row.slice(0, shown))), left: heads.slice(shown) }
}

/** Removes control characters: a name must not move the cursor. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell))
  }
  return widths
}

/** Cuts a text off at a width; its colours stay, so that they end. */
function cutTo(text: string, most: number): string {
  if (widthOf(text) <= most) return text
  let left = most - 1
  let isCut = false
  let cut = ''
  for (const [piece] of text.matchAll(/\x1b\[[\d;]*m|[^]/gu)) {
    if (piece.startsWith('\x1b[')) cut += piece
    else if (!isCut) {
      left -= stringWidth(piece)
      isCut = left < 0
      cut += isCut ? '…' : piece
    }
  }
  return cut
}

/** Width in columns of a terminal. ASCII, the common case, has one per character. */
function widthOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : stringWidth(text)
}

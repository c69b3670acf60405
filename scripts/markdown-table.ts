/**
 * Tables in Markdown that a command writes into a guide, between two marks.
 *
 * @module
 */

export interface Marks {
  readonly begin: string
  readonly end: string
}

/** @param command - The one that writes what is between them. */
export const marksOf = (command: string): Marks => ({
  begin: `<!-- ${command}: begin -->`,
  end: `<!-- ${command}: end -->`,
})

/** Padded as prettier would. @param rows - The head first. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [head, ...cells] = rows
  const widths = head!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const ruler = widths.map((width) => '-'.repeat(width))
  return [head!, ruler, ...cells].map(line).join('\n')
}

/** The guide with this table between its marks. @throws Error if it does not have them. */
export function replaceTable(guide: string, marks: Marks, table: string): string {
  const { from, to } = placeOf(guide, marks)
  return `${guide.slice(0, from)}\n\n${table}\n\n${guide.slice(to)}`
}

/** The table that the guide has. @throws Error as {@link replaceTable}. */
export function tableIn(guide: string, marks: Marks): string {
  const { from, to } = placeOf(guide, marks)
  return guide.slice(from, to).trim()
}

function placeOf(guide: string, { begin, end }: Marks): { from: number; to: number } {
  const from = guide.indexOf(begin)
  const to = guide.indexOf(end)
  if (from === -1 || to < from) throw new Error(`The marks of the table are missing: ${begin}`)
  return { from: from + begin.length, to }
}

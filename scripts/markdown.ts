/**
 * Tables of results in Markdown, and their places in guides: between two marks.
 *
 * @module
 */

/** The lines between which a text is replaced. */
export interface Marks {
  readonly begin: string
  readonly end: string
}

/** @returns The marks around a command's output, such as `npm run matrix`. */
export function marksOf(command: string): Marks {
  return { begin: `<!-- ${command}: begin -->`, end: `<!-- ${command}: end -->` }
}

/** Wider tables are not padded: they are not read in columns, and would be mostly spaces. */
const widest = 160

/** Padded like prettier's, if its lines are short enough to be read as a table. */
export function markdownTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const full = headings.map((heading, i) =>
    Math.max(heading.length, ...rows.map((row) => row[i]!.length)),
  )
  const columns = full.reduce((sum, width) => sum + width + 3, 1)
  const widths = columns > widest ? headings.map(() => 3) : full
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const ruler = widths.map((width) => '-'.repeat(width))
  return [headings, ruler, ...rows].map(line).join('\n')
}

/** The text with this content between the marks. @throws Error without the marks. */
export function replaceBetween(text: string, marks: Marks, content: string): string {
  const { from, to } = placeOf(text, marks)
  return `${text.slice(0, from)}\n\n${content}\n\n${text.slice(to)}`
}

/** The content between the marks. @throws Error as {@link replaceBetween}. */
export function textBetween(text: string, marks: Marks): string {
  const { from, to } = placeOf(text, marks)
  return text.slice(from, to).trim()
}

function placeOf(text: string, { begin, end }: Marks): { from: number; to: number } {
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from === -1 || to < from) throw new Error(`The marks "${begin}" and "${end}" are missing`)
  return { from: from + begin.length, to }
}

/**
 * The table of the vocabularies in Markdown, and its place in the README.
 *
 * @module
 */

import type { Row, Way } from './rows.js'

export const marks = {
  begin: '<!-- npm run labels -- --write: begin -->',
  end: '<!-- npm run labels -- --write: end -->',
} as const

const headings = [
  'Vocabulary',
  'Tokens',
  'Labels, chat',
  'Labels, plain',
  '255 options',
  'With 26 labels',
  'Without labels',
]

/** Padded as prettier would. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ vocabulary, size, labels, ways }) => [
    `\`${vocabulary}\``,
    count(size),
    count(labels.chat),
    count(labels.plain),
    ...ways.map(wayText),
  ])
  const widths = headings.map((heading, i) => {
    return Math.max(heading.length, ...cells.map((row) => row[i]!.length))
  })
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const ruler = widths.map((width) => '-'.repeat(width))
  return [headings, ruler, ...cells].map(line).join('\n')
}

function wayText({ readout, suffixes, tokens }: Way): string {
  const [, fallback = 'one step'] = readout.split('+')
  const texts = suffixes === 1 ? '' : `, ${suffixes} texts`
  return `${fallback}${texts}, ${count(tokens)} tokens`
}

const count = (value: number) => value.toLocaleString('en')

/** The README with this table between its marks. @throws Error if it does not have them. */
export function replaceTable(readme: string, table: string): string {
  const { from, to } = placeOf(readme)
  return `${readme.slice(0, from)}\n\n${table}\n\n${readme.slice(to)}`
}

/** The table that the README has. @throws Error as {@link replaceTable}. */
export function tableIn(readme: string): string {
  const { from, to } = placeOf(readme)
  return readme.slice(from, to).trim()
}

function placeOf(readme: string): { readonly from: number; readonly to: number } {
  const from = readme.indexOf(marks.begin)
  const to = readme.indexOf(marks.end)
  if (from === -1 || to < from) throw new Error('README.md: the marks of the table are missing')
  return { from: from + marks.begin.length, to }
}

/**
 * Tables of results in Markdown, and their places in guides.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './build/paths.js'

/** A part of a guide that a command writes, between two lines that name the command. */
export interface Written {
  /** From the root of the project. */
  readonly guide: string
  /** As `npm run matrix`. */
  readonly command: string
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

/** Puts this content in its place. @throws Error if the guide has no such place. */
export function putInGuide(place: Written, content: string): void {
  const path = join(root, place.guide)
  writeFileSync(path, replaceBetween(readFileSync(path, 'utf8'), place, content))
}

/** What stands there. @throws Error as {@link putInGuide}. */
export function inGuide(place: Written): string {
  return textBetween(readFileSync(join(root, place.guide), 'utf8'), place)
}

/** The text with this content between the lines. @throws Error without them. */
export function replaceBetween(text: string, place: Written, content: string): string {
  const { from, to } = placeOf(text, place)
  return `${text.slice(0, from)}\n\n${content}\n\n${text.slice(to)}`
}

/** The content between the lines. @throws Error as {@link replaceBetween}. */
export function textBetween(text: string, place: Written): string {
  const { from, to } = placeOf(text, place)
  return text.slice(from, to).trim()
}

function placeOf(text: string, { command }: Written): { from: number; to: number } {
  const [begin, end] = ['begin', 'end'].map((which) => `<!-- ${command}: ${which} -->`)
  const from = text.indexOf(begin!)
  const to = text.indexOf(end!)
  if (from === -1 || to < from) throw new Error(`The marks "${begin}" and "${end}" are missing`)
  return { from: from + begin!.length, to }
}

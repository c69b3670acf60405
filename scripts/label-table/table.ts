/**
 * The table of the vocabularies in Markdown.
 *
 * @module
 */

import { markdownTable, marksOf } from '../markdown.js'
import type { Row, Way } from './rows.js'

export const marks = marksOf('npm run labels -- --write')

/** From the root of the project. */
export const guidePath = 'src/prompt/README.md'

const headings = [
  'Vocabulary',
  'Tokens',
  'Labels, chat',
  'Labels, plain',
  '255 options',
  'With 26 labels',
  'Without labels',
]

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ vocabulary, size, labels, ways }) => [
    `\`${vocabulary}\``,
    count(size),
    count(labels.chat),
    count(labels.plain),
    ...ways.map(wayText),
  ])
  return markdownTable(headings, cells)
}

function wayText({ readout, suffixes, tokens }: Way): string {
  const [, fallback = 'one step'] = readout.split('+')
  const texts = suffixes === 1 ? '' : `, ${suffixes} texts`
  return `${fallback}${texts}, ${count(tokens)} tokens`
}

const count = (value: number) => value.toLocaleString('en')

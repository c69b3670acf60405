/**
 * The table of the vocabularies in Markdown.
 *
 * @module
 */

import { markdownTable, marksOf } from '../markdown.js'
import type { Row } from './rows.js'

export const marks = marksOf('npm run labels -- --write')

/** From the root of the project. */
export const guidePath = 'src/prompt/README.md'

const headings = ['Vocabulary', 'Tokens', 'Labels, chat', 'Labels, plain', 'Tokens of 255 options']

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ vocabulary, size, labels, tokens }) => [
    `\`${vocabulary}\``,
    count(size),
    count(labels.chat),
    count(labels.plain),
    count(tokens),
  ])
  return markdownTable(headings, cells)
}

const count = (value: number) => value.toLocaleString('en')

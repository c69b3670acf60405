/**
 * The records of a table: CSV or TSV, as programs and Excel write them, with its columns' names in
 * the first line.
 *
 * @module
 */

import { type CsvError, parse } from 'csv-parse'
import { pipeline, Readable } from 'node:stream'
import { OiError } from '../../errors.js'
import { inLine, longestLine } from './lines.js'
import type { Pieces } from './pieces.js'

/** How a table is written. */
export interface Table {
  readonly columns: readonly string[]
  readonly divider: string
  readonly lineEnd: '\n' | '\r\n'
  /** Whether it begins with a byte order mark. */
  readonly marked: boolean
}

export interface TableRecord {
  /** Its first line, from 1. */
  readonly line: number
  readonly unit?: undefined
  readonly table: Table
  /** As many as the table has columns. */
  readonly cells: readonly string[]
}

const mark = '\ufeff'
/** The first line is looked at as far as this, UTF-16 units. */
const mostHeader = 65_536

/**
 * Reads the records in order. Memory: some records.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` for a record of too few or too many cells, with its line,
 *   and for what is no table; what `pieces` throws.
 */
export async function* tableRecordsOf(
  pieces: Pieces,
): AsyncGenerator<TableRecord, void, undefined> {
  const texts = decoded(pieces)
  let begun = ''
  // The first line says what divides the columns.
  while (!/[^\r\n\ufeff][\r\n]/.test(begun) && begun.length <= mostHeader) {
    const { value, done } = await texts.next()
    if (done) break
    begun += value
  }
  async function* all() {
    yield begun
    yield* texts
  }
  const divider = dividerOf(begun)
  let table: Table | undefined
  let next = 1
  for await (const cells of cellsOf(all(), divider)) {
    const line = next
    // Those within quotes, and the one behind the row.
    next += (cells.join(' ').match(/\r\n|\n|\r/g)?.length ?? 0) + 1
    if (cells.length === 1 && cells[0] === '') continue
    if (table === undefined) {
      const lineEnd = /^[^\n]*\r\n/.test(begun.trimStart()) ? '\r\n' : '\n'
      const columns = cells.map((name) => name.trim())
      table = { columns, divider, lineEnd, marked: begun.startsWith(mark) }
      continue
    }
    const { columns } = table
    if (cells.length !== columns.length) {
      const rule = `expected ${columns.length} columns, got ${cells.length}`
      throw inLine(line, new OiError('ERR_BODY_INVALID', rule))
    }
    yield { line, table, cells }
  }
}

/** Of comma, semicolon and tab the most frequent in the first line, outside of quotes. */
function dividerOf(text: string): string {
  const plain = /[^\r\n\ufeff][^\r\n]*/.exec(text)?.[0].replace(/"[^"]*"/g, '') ?? ''
  const count = (divider: string) => plain.split(divider).length
  return [',', ';', '\t'].reduce((most, next) => (count(next) > count(most) ? next : most))
}

async function* cellsOf(
  texts: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<readonly string[]> {
  const parser = parse({
    ...{ bom: true, relax_column_count: true },
    ...{ delimiter, max_record_size: longestLine },
  })
  pipeline(Readable.from(texts), parser, () => {})
  try {
    yield* parser as AsyncIterable<readonly string[]>
  } catch (cause) {
    if (!(cause instanceof Error) || !(cause as CsvError).code?.startsWith('CSV_')) throw cause
    const { message } = cause
    throw new OiError('ERR_BODY_INVALID', `not a table: ${message}`, { cause })
  }
}

async function* decoded(pieces: Pieces): AsyncGenerator<string, void> {
  // The parser takes the byte order mark away.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    for await (const piece of pieces) yield decoder.decode(piece, { stream: true })
    yield decoder.decode()
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    const rule = 'expected UTF-8 (in Excel: save as "CSV UTF-8")'
    throw new OiError('ERR_BODY_INVALID', rule, { cause })
  }
}

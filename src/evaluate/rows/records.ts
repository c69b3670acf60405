/**
 * The rows of a file as they stand there: of a table the cells, of JSON an object each.
 *
 * A file is a JSON array if it begins with `[`, JSON lines if it begins with `{`, and else a table.
 *
 * @module
 */

import { type Json, parseJson } from '../../api/json.js'
import { inPlace, linesOf, type PlaceUnit } from './lines.js'
import { itemsOf } from './json-array.js'
import { lookAhead, type Pieces } from './pieces.js'
import { OiError } from '../../errors.js'
import { tableRecordsOf, type TableRecord } from './table-records.js'

/** Where a row stands: a line from 1, or, with `unit`, an item of a JSON array from 1. */
export interface Place {
  readonly line: number
  readonly unit?: PlaceUnit | undefined
}

export interface JsonRecord extends Place {
  readonly json: Json
  readonly table?: undefined
}

export type FileRecord = JsonRecord | TableRecord

/**
 * Reads the records in order. Memory: some records.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` for the first bad one, with its place; what `pieces`
 *   throws.
 */
export async function* recordsOf(pieces: Pieces): AsyncGenerator<FileRecord, void, undefined> {
  const { head, all } = await lookAhead(pieces, isEnough)
  if (['[', '{'].includes(firstOf(head))) yield* jsonRecordsOf(all)
  else yield* tableRecordsOf(all)
}

/** As {@link recordsOf}, without tables. */
export async function* jsonRecordsOf(pieces: Pieces): AsyncGenerator<JsonRecord, void, undefined> {
  const { head, all } = await lookAhead(pieces, isEnough)
  const first = firstOf(head)
  if (/[a-z]/i.test(first)) {
    const rule = 'expected rows of JSON; a table (CSV, TSV) needs --questions <file>'
    throw new OiError('ERR_BODY_INVALID', rule)
  }
  if (first === '[') {
    for await (const { number, text } of itemsOf(all)) yield jsonRecord(number, text, 'item')
  } else {
    for await (const { number, text } of linesOf(all)) yield jsonRecord(number, text)
  }
}

/** Each record as `read` makes it. @throws What `read` throws, with the record's place. */
export async function* readEach<R extends Place, Row>(
  records: AsyncIterable<R>,
  read: (record: R) => Row,
): AsyncGenerator<Row, void, undefined> {
  for await (const record of records) {
    let row: Row
    try {
      row = read(record)
    } catch (error) {
      throw inPlace(record.unit, record.line, error)
    }
    yield row
  }
}

export function placeIn({ line, unit }: Place): Place {
  return { line, ...(unit && { unit }) }
}

/** As it stands in Latin-1. */
const utf8Mark = '\xef\xbb\xbf'

const isEnough = (head: Buffer) => head.length > utf8Mark.length && firstOf(head) !== ''

/** The first character that is no white space, as far as it is ASCII; `''`: none yet. */
function firstOf(bytes: Buffer): string {
  const text = bytes.toString('latin1')
  return text.replace(utf8Mark, '').trimStart().slice(0, 1)
}

function jsonRecord(line: number, text: string, unit?: PlaceUnit): JsonRecord {
  try {
    return { line, ...(unit && { unit }), json: parseJson(text) }
  } catch (error) {
    throw inPlace(unit, line, error)
  }
}

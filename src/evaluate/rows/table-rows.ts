/**
 * Rows whose questions stand beside them: of a table (CSV, TSV) or of JSON objects, whose members are
 * then its columns.
 *
 * A right answer is taken as people write it: `yes` or `TRUE` or `1`, the name of an option in any
 * case, the number or the text of a level. An empty cell is none.
 *
 * @module
 */

import type { RequestLimits } from '../../api/counts.js'
import {
  isJsonObject,
  type Json,
  keysOf,
  objectFromEntries,
  stringifyJson,
} from '../../api/json.js'
import { failure, shortened } from '../../api/place.js'
import { checkRequest, describe } from '../../api/read-request.js'
import type { DecideRequest, Question } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import type { Pieces } from './pieces.js'
import { type FileRecord, placeIn, readEach, recordsOf } from './records.js'
import type { RowReader } from './rows.js'
import type { Table } from './table-records.js'
import type { AskedRow, Expected, LabelledRow } from './types.js'

/** What is asked about each row. */
interface QuestionsOfRows {
  readonly questions: DecideRequest['questions']
  /** The column that is the state, or several that are its members. */
  readonly state: readonly string[]
}

export interface TableOptions extends QuestionsOfRows {
  /** The column of each question's right answer, by the question's name. */
  readonly expected: Readonly<Record<string, string>>
}

/** Rows with right answers. */
export function tableReader(options: TableOptions): RowReader {
  const { questions, state, expected } = options
  const columns = [...state, ...Object.values(expected)]
  return {
    identity: stringifyJson({ questions, state, expected }),
    rows: (pieces, limits) =>
      rowsIn(pieces, columns, (record): LabelledRow => {
        const request = requestOf(record, options, limits)
        const labels = readLabels(questions, expected, record)
        return { ...placeIn(record), request, record, expected: labels }
      }),
  }
}

/** Rows without right answers. */
export function askedTableReader(options: QuestionsOfRows): RowReader<AskedRow> {
  const { questions, state } = options
  return {
    identity: stringifyJson({ questions, state }),
    rows: (pieces, limits) =>
      rowsIn(pieces, state, (record): AskedRow => {
        return { ...placeIn(record), request: requestOf(record, options, limits), record }
      }),
  }
}

/**
 * Reads the rows in order. Memory: some rows.
 *
 * @throws {@link OiError} `ERR_CONFIG` for a column that is not there, `ERR_BODY_INVALID` or
 *   `ERR_REQUEST_UNACCEPTABLE` for the first bad row, with its place; what `pieces` throws.
 */
function rowsIn<Row>(
  pieces: Pieces,
  wanted: readonly string[],
  read: (record: FileRecord) => Row,
): AsyncGenerator<Row, void, undefined> {
  return readEach(withColumns(recordsOf(pieces), wanted), read)
}

async function* withColumns(records: AsyncIterable<FileRecord>, wanted: readonly string[]) {
  let table: Table | undefined
  for await (const record of records) {
    if (record.table !== table) requireColumns(record.table?.columns ?? [], wanted)
    table = record.table
    yield record
  }
}

function requireColumns(columns: readonly string[], wanted: readonly string[]): void {
  for (const name of wanted) {
    const places = columns.filter((column) => column === name).length
    if (places === 1) continue
    const what = places === 0 ? 'no column' : 'more than one column'
    const list = columns.map((column) => JSON.stringify(column)).join(', ')
    throw new OiError('ERR_CONFIG', `There is ${what} ${JSON.stringify(name)} among ${list}`)
  }
}

function requestOf(
  record: FileRecord,
  { questions, state }: QuestionsOfRows,
  limits: RequestLimits,
): DecideRequest {
  const values = state.map((column) => [column, requireValue(record, column)] as const)
  const value = values.length === 1 ? values[0]![1] : objectFromEntries(values)
  return checkRequest({ state: value, questions }, limits)
}

function requireValue(record: FileRecord, column: string): Json {
  const value = valueOf(record, column)
  if (value !== undefined) return value
  const names = keysOf(record.table ? {} : (record.json as object)).slice(0, 5)
  const list = names.map((name) => JSON.stringify(name)).join(', ')
  const rule = `expected this member (--state names another), got ${list || 'an empty object'}`
  throw failure('ERR_BODY_INVALID', shortened(column), rule)
}

/** A cell, or a member. */
function valueOf(record: FileRecord, column: string): Json | undefined {
  if (record.table) return record.cells[record.table.columns.indexOf(column)]
  const { json } = record
  if (!isJsonObject(json)) {
    throw new OiError('ERR_BODY_INVALID', `expected an object, got ${describe(json)}`)
  }
  return Object.hasOwn(json, column) ? json[column] : undefined
}

function readLabels(
  questions: DecideRequest['questions'],
  expected: TableOptions['expected'],
  record: FileRecord,
): LabelledRow['expected'] {
  const labels = Object.entries(expected).flatMap(([name, column]) => {
    const value = valueOf(record, column) ?? ''
    const text = (typeof value === 'string' ? value : stringifyJson(value)).trim()
    if (text === '') return []
    return [[name, readLabel(text, questions[name]!, column)] as const]
  })
  if (labels.length > 0) return objectFromEntries(labels)
  throw failure(
    'ERR_BODY_INVALID',
    Object.values(expected)[0]!,
    `expected a right answer, got ${record.table ? 'an empty cell' : 'none'}`,
  )
}

/** @throws {@link OiError} `ERR_BODY_INVALID`. */
function readLabel(text: string, question: Question, column: string): Expected {
  const short = JSON.stringify(text.slice(0, 40))
  if (question.type === 'noul') {
    if (/^(?:true|yes|y|1)$/i.test(text)) return true
    if (/^(?:false|no|n|0)$/i.test(text)) return false
    throw failure('ERR_BODY_INVALID', column, `expected yes or no, got ${short}`)
  }
  if (question.type === 'choice') {
    const names = keysOf(question.criteria)
    const found = only(names, text)
    if (found !== undefined) return names[found]!
    throw failure('ERR_BODY_INVALID', column, `expected the name of an option, got ${short}`)
  }
  const levels = question.criteria
  const number = /^\d{1,3}(?:[.,]0+)?$/.test(text) ? parseInt(text, 10) : NaN
  if (number < levels.length) return number
  const found = only(levels.map(levelText), text)
  if (found !== undefined) return found
  const rule = `expected a level from 0 to ${levels.length - 1} or its text, got ${short}`
  throw failure('ERR_BODY_INVALID', column, rule)
}

const levelText = (level: Json) => (typeof level === 'string' ? level : stringifyJson(level))

/** @returns The index of the text, or of the only one that is equal but for case and margins. */
function only(texts: readonly string[], text: string): number | undefined {
  const exact = texts.indexOf(text)
  if (exact >= 0) return exact
  const plain = (each: string) => each.trim().toLowerCase()
  const alike = texts.flatMap((each, i) => (plain(each) === plain(text) ? [i] : []))
  return alike.length === 1 ? alike[0] : undefined
}

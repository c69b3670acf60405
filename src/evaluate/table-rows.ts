/**
 * Labelled rows of a table: CSV or TSV, as programs and Excel write them, with its columns' names in
 * the first line. The questions stand beside it.
 *
 * A right answer is taken as people write it: `yes` or `TRUE` or `1`, the name of an option in any
 * case, the number or the text of a level. An empty cell is none.
 *
 * @module
 */

import { type CsvError, parse } from 'csv-parse'
import { pipeline, Readable } from 'node:stream'
import type { RequestLimits } from '../api/counts.js'
import { type Json, keysOf, objectFromEntries, stringifyJson } from '../api/json.js'
import { failure } from '../api/place.js'
import { checkRequest } from '../api/read-request.js'
import type { DecideRequest, Question } from '../decide/types.js'
import { OiError } from '../errors.js'
import { inLine, longestLine } from './lines.js'
import type { RowReader } from './rows.js'
import type { Expected, LabelledRow } from './types.js'

export interface TableOptions {
  readonly questions: DecideRequest['questions']
  /** The column that is the state, or several that are its members. */
  readonly state: readonly string[]
  /** The column of each question's right answer, by the question's name. */
  readonly expected: Readonly<Record<string, string>>
}

/** The first line is looked at as far as this, UTF-16 units. */
const mostHeader = 65_536

export function tableReader(options: TableOptions): RowReader {
  const { questions, state, expected } = options
  return {
    identity: stringifyJson({ questions, state, expected }),
    rows: (pieces, limits) => tableRowsOf(pieces, limits, options),
  }
}

/**
 * Reads the rows in order. Memory: some rows.
 *
 * @throws {@link OiError} `ERR_CONFIG` for a column that is not there, `ERR_BODY_INVALID` or
 *   `ERR_REQUEST_UNACCEPTABLE` for the first bad row, with its line; what `pieces` throws.
 */
async function* tableRowsOf(
  pieces: AsyncIterable<Uint8Array>,
  limits: RequestLimits,
  { questions, state, expected }: TableOptions,
): AsyncGenerator<LabelledRow, void, undefined> {
  let columns: readonly string[] | undefined
  let next = 1
  for await (const record of recordsOf(pieces)) {
    const line = next
    // Those within quotes, and the one behind the row.
    next += (record.join(' ').match(/\r\n|\n|\r/g)?.length ?? 0) + 1
    if (record.length === 1 && record[0] === '') continue
    if (columns === undefined) {
      columns = record.map((name) => name.trim())
      requireColumns(columns, [...state, ...Object.values(expected)])
      continue
    }
    try {
      if (record.length !== columns.length) {
        const rule = `expected ${columns.length} columns, got ${record.length}`
        throw new OiError('ERR_BODY_INVALID', rule)
      }
      const cell = (column: string) => record[columns!.indexOf(column)]!
      const of =
        state.length === 1 ? cell(state[0]!) : objectFromEntries(state.map((c) => [c, cell(c)]))
      const request = checkRequest({ state: of, questions }, limits)
      yield { line, request, expected: readLabels(questions, expected, cell) }
    } catch (error) {
      throw inLine(line, error)
    }
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

function readLabels(
  questions: DecideRequest['questions'],
  expected: TableOptions['expected'],
  cell: (column: string) => string,
): LabelledRow['expected'] {
  const labels = Object.entries(expected).flatMap(([name, column]) => {
    const text = cell(column).trim()
    if (text === '') return []
    return [[name, readLabel(text, questions[name]!, column)] as const]
  })
  if (labels.length > 0) return objectFromEntries(labels)
  throw failure(
    'ERR_BODY_INVALID',
    Object.values(expected)[0]!,
    'expected a right answer, got an empty cell',
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
  const number = /^\d{1,3}(?:\.0+)?$/.test(text) ? Number(text) : NaN
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

async function* recordsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
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
  const parser = parse({
    ...{ bom: true, relax_column_count: true },
    ...{ delimiter: dividerOf(begun), max_record_size: longestLine },
  })
  pipeline(Readable.from(all()), parser, () => {})
  try {
    yield* parser as AsyncIterable<readonly string[]>
  } catch (cause) {
    if (!(cause instanceof Error) || !(cause as CsvError).code?.startsWith('CSV_')) throw cause
    const { message } = cause
    throw new OiError('ERR_BODY_INVALID', `not a table: ${message}`, { cause })
  }
}

/** Of comma, semicolon and tab the most frequent in the first line, outside of quotes. */
function dividerOf(text: string): string {
  const plain = /[^\r\n\ufeff][^\r\n]*/.exec(text)?.[0].replace(/"[^"]*"/g, '') ?? ''
  const count = (divider: string) => plain.split(divider).length
  return [',', ';', '\t'].reduce((most, next) => (count(next) > count(most) ? next : most))
}

async function* decoded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
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

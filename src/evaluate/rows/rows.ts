/**
 * Rows that are whole requests: JSON lines or a JSON array, with the right answers beside them.
 *
 *     {"state": …, "questions": {"refund": {"type": "noul", …}}, "expected": {"refund": true}}
 *
 * A noul's right answer is true or false, that of a choice an option's name, that of a score a
 * level counted from 0. Not every question needs one. Empty lines are ignored.
 *
 * @module
 */

import {
  duplicateKeyOf,
  entriesOf,
  isJsonObject,
  type Json,
  keysOf,
  objectFromEntries,
  RawNumber,
} from '../../api/json.js'
import type { RequestLimits } from '../../api/counts.js'
import { failure, placeOf } from '../../api/place.js'
import { checkRequest, describe } from '../../api/read-request.js'
import type { DecideRequest, Question } from '../../decide/types.js'
import type { Pieces } from './pieces.js'
import { jsonRecordsOf, type JsonRecord, placeIn, readEach } from './records.js'
import type { AskedRow, Expected, LabelledRow } from './types.js'

/** How the rows of a file are read. */
export interface RowReader<Row = LabelledRow> {
  /** What they depend on beside the file's contents; `''`: nothing. */
  readonly identity: string
  rows(pieces: Pieces, limits: RequestLimits): AsyncIterable<Row>
}

/**
 * Reads the rows in order. Memory: one row.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` or `ERR_REQUEST_UNACCEPTABLE` for the first bad one:
 *   `line 3: expected.team: expected …`; what `pieces` throws.
 */
export function rowsOf(
  pieces: Pieces,
  limits: RequestLimits,
): AsyncGenerator<LabelledRow, void, undefined> {
  return readEach(jsonRecordsOf(pieces), (record) => {
    const request = requestOf(record, limits)
    const { expected } = record.json as { expected?: Json }
    const right = readExpected(expected, request.questions)
    return { ...placeIn(record), request, record, expected: right }
  })
}

export const labelledReader: RowReader = { identity: '', rows: rowsOf }

/** Rows without right answers. */
export const askedReader: RowReader<AskedRow> = {
  identity: '',
  rows: (pieces, limits) =>
    readEach(jsonRecordsOf(pieces), (record) => {
      return { ...placeIn(record), request: requestOf(record, limits), record }
    }),
}

const members = ['images', 'image', 'assets', 'state', 'questions', 'model'] as const

/** Without further members, such as the right answers: no server sees them. */
function requestOf({ json }: JsonRecord, limits: RequestLimits): DecideRequest {
  const request = checkRequest(json, limits)
  const given = members.filter((name) => request[name] !== undefined)
  return objectFromEntries(given.map((name) => [name, request[name]])) as unknown as DecideRequest
}

function readExpected(
  value: Json | undefined,
  questions: DecideRequest['questions'],
): LabelledRow['expected'] {
  const names = isJsonObject(value) ? keysOf(value) : []
  if (!isJsonObject(value) || names.length === 0) {
    const rule = `expected an object with at least one right answer, got ${describe(value)}`
    throw failure('ERR_BODY_INVALID', 'expected', rule)
  }
  const twice = duplicateKeyOf(value)
  if (twice !== undefined) {
    const place = placeOf('expected', twice)
    throw failure('ERR_BODY_INVALID', place, 'expected each name once, got it twice')
  }
  return objectFromEntries(
    entriesOf(value).map(([name, right]) => {
      const place = placeOf('expected', name)
      if (!Object.hasOwn(questions, name)) {
        const known = keysOf(questions)
          .slice(0, 5)
          .map((known) => JSON.stringify(known))
        const rule = `expected the name of a question, as ${known.join(', ')}`
        throw failure('ERR_BODY_INVALID', place, rule)
      }
      return [name, readRight(right, questions[name]!, place)]
    }),
  )
}

function readRight(right: Json, question: Question, place: string): Expected {
  if (question.type === 'noul') {
    if (typeof right === 'boolean') return right
    throw failure('ERR_BODY_INVALID', place, `expected true or false, got ${describe(right)}`)
  }
  if (question.type === 'choice') {
    if (typeof right === 'string' && Object.hasOwn(question.criteria, right)) return right
    const got = typeof right === 'string' ? JSON.stringify(right.slice(0, 40)) : describe(right)
    throw failure('ERR_BODY_INVALID', place, `expected the name of an option, got ${got}`)
  }
  const top = question.criteria.length - 1
  // 1.0 is a whole number too, and some programs write it so.
  const level = typeof right === 'number' || right instanceof RawNumber ? Number(right) : NaN
  if (Number.isInteger(level) && level >= 0 && level <= top) return level
  const got = Number.isNaN(level) ? describe(right) : String(level)
  throw failure('ERR_BODY_INVALID', place, `expected a level from 0 to ${top}, got ${got}`)
}

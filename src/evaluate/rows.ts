/**
 * Labelled files: JSONL, each line a request body with the right answers beside it.
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
  parseJson,
  RawNumber,
} from '../api/json.js'
import type { RequestLimits } from '../api/counts.js'
import { failure, placeOf } from '../api/place.js'
import { checkRequest, describe } from '../api/read-request.js'
import type { DecideRequest, Question } from '../decide/types.js'
import { inLine, linesOf } from './lines.js'
import type { Expected, LabelledRow } from './types.js'

/** How the rows of a file are read. */
export interface RowReader {
  /** What they depend on beside the file's bytes; `''`: nothing. */
  readonly identity: string
  rows(pieces: AsyncIterable<Uint8Array>, limits: RequestLimits): AsyncIterable<LabelledRow>
}

/**
 * Reads the rows in order. Memory: one line.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` or `ERR_REQUEST_UNACCEPTABLE` for the first bad line:
 *   `line 3: expected.team: expected …`; what `pieces` throws.
 */
export async function* rowsOf(
  pieces: AsyncIterable<Uint8Array>,
  limits: RequestLimits,
): AsyncGenerator<LabelledRow, void, undefined> {
  for await (const { number, text } of linesOf(pieces)) {
    yield { line: number, ...readLine(number, text, limits) }
  }
}

export const jsonLines: RowReader = { identity: '', rows: rowsOf }

function readLine(line: number, text: string, limits: RequestLimits): Omit<LabelledRow, 'line'> {
  try {
    const body = parseJson(text)
    const { state, questions, model, images } = checkRequest(body, limits)
    const expected = readExpected((body as { expected?: Json }).expected, questions)
    // The right answers stay here: no server sees them.
    const request = {
      ...(images !== undefined && { images }),
      state,
      questions,
      ...(model !== undefined && { model }),
    }
    return { request, expected }
  } catch (error) {
    throw inLine(line, error)
  }
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

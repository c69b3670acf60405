/**
 * Reads saved observations: JSONL, one per line.
 *
 *     {"question": "refund", "type": "noul", "logits": [1.2, 3.4], "probabilities": [0.1, 0.9],
 *      "right": 1, "row": "4711"}
 *
 * `row` and `state` are optional: lines that share a row, or whose states are the same or near
 * copies, are fitted or held out together. Other members are ignored. A logit of null belongs to an
 * option that the model cannot produce.
 *
 * @module
 */

import type { Json } from '../../api/json.js'
import { OiError } from '../../errors.js'
import { inLine, linesOf } from '../rows/lines.js'
import { groupNearCopies, sketchOf, type SketchedRow } from './near-copies.js'
import type { RowObservation } from './sample.js'
import { rowKey } from './split.js'

/**
 * @throws {@link OiError} `ERR_BODY_INVALID` for the first bad line: `line 3: logits: expected …`; what
 *   `pieces` throws.
 */
export async function readObservations(
  pieces: AsyncIterable<Uint8Array>,
): Promise<RowObservation[]> {
  const observations: (RowObservation & SketchedRow)[] = []
  for await (const { number, text } of linesOf(pieces)) {
    try {
      observations.push(observationOf(text))
    } catch (error) {
      throw inLine(number, error)
    }
  }
  const groups = groupNearCopies(observations)
  return observations.map(({ sketch: _, row, ...rest }) => ({ ...rest, row: groups.get(row)! }))
}

function observationOf(text: string): RowObservation & SketchedRow {
  const line = parse(text)
  const { question, type, right } = line
  const state = line['state'] as Json | undefined
  const { row = state === undefined ? text : rowKey({ state }) } = line
  if (typeof question !== 'string') throw wrong('question', 'a text', question)
  if (type !== 'noul' && type !== 'choice' && type !== 'score') {
    throw wrong('type', 'noul, choice or score', type)
  }
  if (!Array.isArray(line['logits'])) throw wrong('logits', 'a list', line['logits'])
  const options = line['logits'].length
  if (options < 2 || (type === 'noul' && options > 2)) {
    throw wrong('logits', type === 'noul' ? '2 numbers' : 'at least 2 numbers', line['logits'])
  }
  const logits = line['logits'].map((logit) => (logit === null ? -Infinity : requireNumber(logit)))
  if (logits.every((logit) => logit === -Infinity)) {
    throw wrong('logits', 'at least one number', line['logits'])
  }
  const probabilities: unknown = line['probabilities']
  if (!Array.isArray(probabilities) || !isDistribution(probabilities, options)) {
    throw wrong('probabilities', `${options} numbers from 0 to 1 with the sum 1`, probabilities)
  }
  if (!Number.isInteger(right) || (right as number) < 0 || (right as number) >= options) {
    throw wrong('right', `an integer from 0 to ${options - 1}`, right)
  }
  if (typeof row !== 'string' && typeof row !== 'number') {
    throw wrong('row', 'a text or a number', row)
  }
  return {
    ...{ question, type, logits, probabilities, right: right as number },
    row: String(row),
    sketch: state === undefined ? undefined : sketchOf({ state }),
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const { message } = cause as Error
    throw new OiError('ERR_BODY_INVALID', `not valid JSON: ${message}`, { cause })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw new OiError('ERR_BODY_INVALID', 'expected an object')
}

function requireNumber(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw wrong('logits', 'numbers', value)
}

function isDistribution(values: readonly unknown[], count: number): values is readonly number[] {
  const numbers = values.every((p) => typeof p === 'number' && p >= 0 && p <= 1)
  if (!numbers || values.length !== count) return false
  // Allows for rounding.
  return Math.abs((values as readonly number[]).reduce((sum, p) => sum + p, 0) - 1) < 1e-2
}

function wrong(param: string, expected: string, value: unknown): OiError {
  const got = value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80)
  return new OiError('ERR_BODY_INVALID', `${param}: expected ${expected}, got ${got}`, { param })
}

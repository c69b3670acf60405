/**
 * Asks the same questions with reversed options, to measure the effect of the order.
 *
 * @module
 */

import { entriesOf, objectFromEntries } from '../api/json.js'
import type { DecideRequest, Question } from '../decide/types.js'
import { optionCount } from '../api/counts.js'
import type { Expected, LabelledRow } from './rows/types.js'

/** A row's questions with reversed options. */
export interface Reversed {
  /** The row with only these questions, under names that the row itself does not have. */
  readonly row: LabelledRow
  /** Name in the row -> name in reverse. */
  readonly names: ReadonlyMap<string, string>
}

/**
 * Reverses the options of a row's labelled choices and scores of two options or more.
 *
 * @returns Undefined if the row has no such question.
 */
export function reverse(row: LabelledRow): Reversed | undefined {
  const { request } = row
  const names = new Map<string, string>()
  const questions: [string, Question][] = []
  const expected: [string, Expected][] = []
  for (const [name, right] of entriesOf(row.expected)) {
    const question = request.questions[name]!
    if (question.type === 'noul' || optionCount(question) === 1) continue
    // The model never sees names; they only must differ.
    let free = `${name} reversed`
    while (Object.hasOwn(request.questions, free)) free += "'"
    names.set(name, free)
    questions.push([free, withReversedOptions(question)])
    const top = optionCount(question) - 1
    expected.push([free, question.type === 'score' ? top - Number(right) : right])
  }
  if (questions.length === 0) return undefined
  return {
    row: {
      line: row.line,
      record: row.record,
      request: { ...request, questions: objectFromEntries(questions) },
      expected: objectFromEntries(expected),
    },
    names,
  }
}

/**
 * The requests that ask a row and its reverse: one, so that both share the state, unless it would
 * have too many questions.
 *
 * @param maxQuestions - Of one request, at least 1.
 */
export function requestsOf(
  { request }: LabelledRow,
  reversed: Reversed | undefined,
  maxQuestions: number,
): DecideRequest[] {
  if (reversed === undefined) return [request]
  const own = entriesOf(request.questions)
  const more = entriesOf(reversed.row.request.questions)
  const room = Math.max(0, maxQuestions - own.length)
  const batches = [[...own, ...more.slice(0, room)]]
  for (let at = room; at < more.length; at += maxQuestions) {
    batches.push(more.slice(at, at + maxQuestions))
  }
  return batches.map((batch) => ({ ...request, questions: objectFromEntries(batch) }))
}

function withReversedOptions(question: Exclude<Question, { type: 'noul' }>): Question {
  if (question.type === 'score') return { ...question, criteria: question.criteria.toReversed() }
  return { ...question, criteria: objectFromEntries(entriesOf(question.criteria).toReversed()) }
}

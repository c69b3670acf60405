/**
 * Observations: the answers of a decision to the questions whose right answers are known.
 *
 * @module
 */

import { entriesOf, isJsonObject, keysOf } from '../api/json.js'
import { optionCount } from '../api/counts.js'
import { placeOf } from '../api/place.js'
import type { Answer, Question } from '../decide/types.js'
import { OiError } from '../errors.js'
import type { Expected, LabelledRow, Observation, Reply } from './rows/types.js'

/**
 * One observation for each question with a right answer and at least two options, in the order
 * of `expected`.
 *
 * @param decision - The decision for the row's request, with evidence. It may come from a server:
 *   anything but an answer to the question is refused.
 * @throws {@link OiError} `ERR_REMOTE` naming the answer, and what is missing.
 */
export function observationsOf(row: LabelledRow, decision: Reply): Observation[] {
  const observations: Observation[] = []
  for (const [name, expected] of entriesOf(row.expected)) {
    const question = row.request.questions[name]!
    const options = optionCount(question)
    if (options === 1) continue
    const place = placeOf('answers', name)
    const answer = answerTo(question, decision, name, place)
    const { label_mass, logits } = answer.evidence ?? {}
    const labelMass = Number(label_mass)
    if (!Array.isArray(logits) || Number.isNaN(labelMass)) {
      throw wrong(place, 'evidence (does the server know the header x-oi-evidence?)')
    }
    observations.push({
      question: name,
      type: question.type,
      logits: logitsOf(answer, logits.map(logit), options, `${place}.evidence.logits`),
      probabilities: requireProbabilities(probabilitiesOf(question, answer), options, place),
      right: rightOption(question, expected),
      labelMass,
    })
  }
  return observations
}

/** Index of the right option; for a noul: no, then yes. */
function rightOption(question: Question, expected: Expected): number {
  if (question.type === 'choice') return keysOf(question.criteria).indexOf(expected as string)
  return Number(expected)
}

function answerTo(question: Question, { answers }: Reply, name: string, place: string): Answer {
  const answer = isJsonObject(answers) && Object.hasOwn(answers, name) ? answers[name] : undefined
  if (isJsonObject(answer) && (answer as Answer).type === question.type) return answer
  throw wrong(place, `an answer of type ${question.type}`)
}

/** Shape [n], in the order of the question's options; NaN if missing. */
function probabilitiesOf(question: Question, answer: Answer): number[] {
  if (answer.type === 'noul') return [1 - Number(answer.noul), Number(answer.noul)]
  const given: unknown = answer.probabilities
  if (!isJsonObject(given)) return []
  const names =
    question.type === 'choice'
      ? keysOf(question.criteria)
      : Array.from({ length: optionCount(question) }, (_, level) => String(level))
  return names.map((name) => (Object.hasOwn(given, name) ? Number(given[name]) : NaN))
}

/**
 * A rated noul has logits of its ratings: the logits of no and yes are made from its probability.
 */
function logitsOf(
  answer: Answer,
  logits: readonly number[],
  options: number,
  place: string,
): number[] {
  if (answer.type === 'noul' && logits.length > options) {
    return [Math.log(1 - answer.noul), Math.log(answer.noul)]
  }
  return requireNumbers(logits, options, place)
}

/** An impossible label has -Infinity, which JSON writes as null. */
function logit(value: unknown): number {
  return value === null ? -Infinity : Number(value)
}

function requireNumbers(values: readonly number[], count: number, place: string): number[] {
  if (values.length === count && !values.some(Number.isNaN)) return [...values]
  throw wrong(place, `${count} numbers, one for each option`)
}

function requireProbabilities(values: readonly number[], count: number, place: string): number[] {
  // Rounding may exceed 1.
  if (values.every((p) => p >= 0 && p <= 1 + 1e-6)) return requireNumbers(values, count, place)
  throw wrong(place, `${count} probabilities, one for each option`)
}

function wrong(place: string, expected: string): OiError {
  return new OiError('ERR_REMOTE', `${place}: expected ${expected}`, { param: place })
}

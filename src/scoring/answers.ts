/**
 * Turns the logits of one question's candidates into its answer.
 *
 * @module
 */

import { hasOwnOrder, isJsonObject, keysOf } from '../api/json.js'
import { objectFromEntries, stringifyJson } from '../api/json.js'
import type { Json, JsonObject } from '../api/json.js'
import type {
  Answer,
  ChoiceAnswer,
  ChoiceQuestion,
  Evidence,
  NoulAnswer,
  Question,
  ScoreAnswer,
  ScoreQuestion,
} from '../decide/types.js'
import { type Calibration, onTopOf, withBias } from './calibration.js'
import { argMax, choiceConfidence, scoreConfidence } from './confidence.js'
import { type OptionLogits, orderSpread } from './option-logits.js'
import { softmax } from './softmax.js'

interface AnswerOptions {
  /** The model's own temperature, > 0; 1 without. */
  readonly temperature: number
  /** Nats, added to the logit of a noul's yes before the temperature. 0 by default. */
  readonly bias?: number
  /** A second calibration, of the probabilities that the first gives. */
  readonly onTop?: Calibration | undefined
  readonly evidence: boolean
}

/**
 * The answer to one question.
 *
 * Options of a noul are no, then yes, or ratings from no to yes; options of a choice and levels of
 * a score are in the caller's order.
 *
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` as {@link softmax}.
 */
export function answerOf(
  question: Question,
  { logits, labelMass, rank, orders, meanOfProbabilities }: OptionLogits,
  { temperature, bias = 0, onTop, evidence }: AnswerOptions,
): Answer {
  const rows = orders?.map((row) => withBias(row, bias))
  const own =
    rows && meanOfProbabilities
      ? meanProbabilities(rows, temperature)
      : softmax(withBias(logits, bias), temperature)
  const answer = shape(question, onTop ? onTopOf(noAndYes(question, own), onTop) : own)
  if (!evidence) return answer

  const { temperature: second, bias: shift } = onTop ?? { temperature: 1, bias: 0 }
  const biased = orders?.map((row) => withBias(row, bias + temperature * shift))

  const shown: Evidence = {
    label_mass: labelMass,
    ...(rank !== undefined && { rank }),
    logits,
    temperature: temperature * second,
    ...(biased && { order_spread: orderSpread(biased, temperature * second) }),
  }
  return { ...answer, evidence: shown }
}

/** The mean over the orders of each order's own probabilities. */
function meanProbabilities(
  orders: readonly (readonly number[])[],
  temperature: number,
): Float64Array {
  const mean = new Float64Array(orders[0]!.length)
  for (const row of orders) {
    softmax(row, temperature).forEach((probability, i) => (mean[i]! += probability / orders.length))
  }
  return mean
}

/** Of a rated noul, the probabilities of no and yes. */
function noAndYes({ type }: Question, probabilities: Float64Array): ArrayLike<number> {
  if (type !== 'noul' || probabilities.length === 2) return probabilities
  const { noul } = noulAnswer(probabilities)
  return [1 - noul, noul]
}

function shape(question: Question, probabilities: Float64Array): Answer {
  if (question.type === 'noul') return noulAnswer(probabilities)
  if (question.type === 'choice') return choiceAnswer(question, probabilities)
  return scoreAnswer(question, probabilities)
}

/**
 * The probability of yes: the expected place on a scale from 0 (no) to 1 (yes).
 *
 * @param probabilities - Of no and of yes; of a rated noul, those of each rating from no to yes.
 */
export function noulAnswer(probabilities: ArrayLike<number>): NoulAnswer {
  const last = probabilities.length - 1
  let noul = 0
  for (let i = 1; i <= last; i++) noul += (probabilities[i]! * i) / last
  // Probabilities sum to 1 up to rounding.
  return { type: 'noul', noul: Math.min(1, noul) }
}

/** @param probabilities - Shape [n], in the order of the question's options. */
export function choiceAnswer(
  question: ChoiceQuestion,
  probabilities: ArrayLike<number>,
): ChoiceAnswer {
  const names = keysOf(question.criteria)
  return {
    type: 'choice',
    choice: names[argMax(probabilities)]!,
    probabilities: objectFromEntries(names.map((name, i) => [name, probabilities[i]!])),
    confidence: choiceConfidence(probabilities),
  }
}

/** @param probabilities - Shape [n], lowest level first. */
export function scoreAnswer(
  question: ScoreQuestion,
  probabilities: ArrayLike<number>,
): ScoreAnswer {
  const levels = question.criteria
  let score = 0
  // JavaScript keeps indices from 0 on in this order by itself.
  const named: Record<string, number> = {}
  const legend: Record<string, string | Json[] | JsonObject> = {}
  for (let i = 0; i < levels.length; i++) {
    score += i * probabilities[i]!
    named[i] = probabilities[i]!
    legend[i] = legendOf(levels[i]!)
  }
  return {
    type: 'score',
    score,
    probabilities: named,
    legend,
    confidence: scoreConfidence(probabilities),
  }
}

/** Clients take texts, objects and arrays alone: others are repeated as their JSON. */
function legendOf(level: Json): string | Json[] | JsonObject {
  if (typeof level === 'string' || Array.isArray(level) || isJsonObject(level)) return level
  return stringifyJson(level)
}

/** An answer's JSON, its options in the caller's order. */
export function answerText(answer: Answer): string {
  if (answer.type === 'noul' && answer.evidence === undefined)
    return `{"type":"noul","noul":${answer.noul}}`
  // JSON.stringify is three times as fast, but keeps neither that order nor the digits of numbers.
  const plain =
    answer.type === 'noul' ||
    (answer.type === 'choice'
      ? !hasOwnOrder(answer.probabilities)
      : Object.values(answer.legend).every((level) => typeof level === 'string'))
  return plain ? JSON.stringify(answer) : stringifyJson(answer)
}

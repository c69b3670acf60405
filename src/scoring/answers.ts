/**
 * Logits of one question's candidates to its answer.
 *
 * @module
 */

import { keysOf, objectFromEntries } from '../api/json.js'
import type { Json } from '../api/json.js'
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
import { argMax, choiceConfidence, scoreConfidence } from './confidence.js'
import { logSumExp, softmax } from './softmax.js'

/** What was measured for one question. */
export interface Measurement {
  /** Raw logits of all candidates, option by option. Empty for a single option. */
  readonly logits: ArrayLike<number>
  /** How many candidates each option has, summing to the length of `logits`. */
  readonly forms: readonly number[]
  /** Log-sum-exp over the whole vocabulary, nats. */
  readonly vocabulary: number
}

export interface AnswerOptions {
  /** Calibration temperature, > 0. */
  readonly temperature: number
  readonly evidence: boolean
}

/**
 * The answer to one question.
 *
 * Options of a noul are no, then yes; those of a choice and the levels of a score are in the
 * caller's order. A question without candidates has one option, which is certain.
 *
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` as {@link softmax}.
 */
export function answerOf(
  question: Question,
  measured: Measurement,
  options: AnswerOptions,
): Answer {
  const single = measured.logits.length === 0
  const logits = single ? [0] : optionLogits(measured)
  const probabilities = softmax(logits, options.temperature)
  const answer = shape(question, probabilities)
  if (!options.evidence) return answer

  const evidence: Evidence = {
    label_mass: single ? 1 : labelMass(logits, measured.vocabulary),
    logits,
    temperature: options.temperature,
  }
  return { ...answer, evidence }
}

/** Sums the forms of each option, in the domain of probabilities. */
function optionLogits({ logits, forms }: Measurement): number[] {
  let at = 0
  return forms.map((count) => {
    const own: number[] = []
    for (let i = 0; i < count; i++) own.push(logits[at++]!)
    return logSumExp(own)
  })
}

/** Both sums come from single-precision logits, so their quotient can pass 1 by a hair. */
function labelMass(logits: readonly number[], vocabulary: number): number {
  return Math.min(1, Math.exp(logSumExp(logits) - vocabulary))
}

function shape(question: Question, probabilities: Float64Array): Answer {
  if (question.type === 'noul') return noulAnswer(probabilities)
  if (question.type === 'choice') return choiceAnswer(question, probabilities)
  return scoreAnswer(question, probabilities)
}

/** @param probabilities - Of no and of yes. */
export function noulAnswer(probabilities: ArrayLike<number>): NoulAnswer {
  return { type: 'noul', noul: probabilities[1]! }
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
  // Indices from 0 on are the one kind of name that JavaScript keeps in this order by itself.
  const named: Record<string, number> = {}
  const legend: Record<string, Json> = {}
  for (let i = 0; i < levels.length; i++) {
    score += i * probabilities[i]!
    named[i] = probabilities[i]!
    legend[i] = levels[i]!
  }
  return {
    type: 'score',
    score,
    probabilities: named,
    legend,
    confidence: scoreConfidence(probabilities),
  }
}

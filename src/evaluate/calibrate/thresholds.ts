/**
 * Thresholds: the probability from which on answers are decided, so that few of them are wrong.
 *
 * An answer is decided if its top probability (of a noul, that of yes or of no) is at least the
 * threshold. The promise: with the given confidence, the share of wrong answers among the decided
 * ones is at most the given rate, for further rows of the same kind. It holds for each question
 * alone, not for all together.
 *
 * Choosing the best of many thresholds by the same rows would break the promise. So the thresholds
 * and their order are fixed without the held-out rows: quantiles of the fitted rows, from the one
 * that is likeliest to pass by the fitted rows to looser ones. They are tested on the held-out rows
 * one after another, each at the full level; the first failure ends the test, and the last
 * threshold that passed is taken (fixed-sequence testing).
 *
 * @see A. Angelopoulos, S. Bates, E. Candès, M. Jordan, L. Lei, "Learn then test: calibrating
 *   predictive algorithms to achieve risk control", 2021, on (split) fixed-sequence testing.
 * @module
 */

import { argMax } from '../../scoring/confidence.js'
import type { QuestionType } from '../../scoring/calibration.js'
import { atMost, upperBound } from './binomial.js'

/** A calibrated answer. */
export interface Answered {
  readonly question: string
  readonly type: QuestionType
  /** Shape [n]. */
  readonly probabilities: readonly number[]
  /** Index of the right option. */
  readonly right: number
}

export interface Goal {
  /** Allowed share of wrong answers among the decided ones, above 0 and below 1. */
  readonly rate: number
  /** Above 0 and below 1. */
  readonly confidence: number
}

export interface Threshold {
  /** Smallest top probability that is decided, 0 to 1; 0 decides all answers. */
  readonly threshold: number
  /** How many held-out answers it decides, and how many of these are wrong. */
  readonly decided: number
  readonly wrong: number
  /** Upper bound of the rate of errors, with the goal's confidence; at most the goal's rate. */
  readonly bound: number
  /** Share of held-out answers that it leaves undecided, 0 to 1. */
  readonly undecided: number
}

export interface QuestionThreshold {
  readonly question: string
  readonly type: QuestionType
  /** Held-out answers. */
  readonly observations: number
  /** Undefined if no threshold holds. */
  readonly found: Threshold | undefined
  /** Why no threshold holds. */
  readonly reason: string | undefined
}

/** Shares of the fitted rows that the thresholds decide, strictest first. */
const shares = Array.from({ length: 50 }, (_, i) => (i + 1) / 50)
/** Thresholds are rounded to the shown digits before they are tested. */
const digits = 1e4

/**
 * A threshold for each question, in the order of the questions.
 *
 * @param fitted - Answers to the rows that the calibration was fitted to.
 * @param heldOut - Answers to all others.
 */
export function thresholdsOf(
  fitted: readonly Answered[],
  heldOut: readonly Answered[],
  goal: Goal,
): QuestionThreshold[] {
  const types = new Map([...fitted, ...heldOut].map(({ question, type }) => [question, type]))
  const [fittedTo, heldOutOf] = [byQuestion(fitted), byQuestion(heldOut)]
  return [...types].map(([question, type]) =>
    thresholdOf(question, type, fittedTo.get(question) ?? [], heldOutOf.get(question) ?? [], goal),
  )
}

function byQuestion(answered: readonly Answered[]): ReadonlyMap<string, readonly Answered[]> {
  const groups = new Map<string, Answered[]>()
  for (const one of answered) {
    const group = groups.get(one.question)
    if (group === undefined) groups.set(one.question, [one])
    else group.push(one)
  }
  return groups
}

function thresholdOf(
  question: string,
  type: QuestionType,
  fitted: readonly Answered[],
  heldOut: readonly Answered[],
  goal: Goal,
): QuestionThreshold {
  const shared = { question, type, observations: heldOut.length }
  const none = (reason: string) => ({ ...shared, found: undefined, reason })
  const needed = fewestAnswers(goal)
  if (heldOut.length < needed) {
    return none(`it needs at least ${needed} held-out answers, got ${heldOut.length}`)
  }
  let found: Threshold | undefined
  for (const threshold of candidates(fitted, heldOut.length, goal)) {
    const tested = test(threshold, heldOut, goal)
    if (tested === undefined) break
    found = tested
  }
  if (found === undefined) return none('the most certain answers are wrong too often, or too few')
  return { ...shared, found, reason: undefined }
}

/**
 * Thresholds in the order of testing, chosen without the held-out answers.
 *
 * @param count - The number of held-out answers.
 */
function candidates(fitted: readonly Answered[], count: number, goal: Goal): readonly number[] {
  // Without fitted answers the only candidate is to decide all.
  if (fitted.length === 0) return [0]
  const sorted = fitted.toSorted((a, b) => topOf(b) - topOf(a))
  let [at, wrong, likeliest, start] = [0, 0, -1, 0]
  const thresholds = shares.map((share, i) => {
    const decided = Math.ceil(share * sorted.length)
    for (; at < decided; at++) if (isWrong(sorted[at]!)) wrong++
    // One right and one wrong answer more: a case that was not seen is not impossible.
    const chance = chanceToPass(Math.floor(share * count), (wrong + 1) / (decided + 2), goal)
    if (chance > likeliest) [likeliest, start] = [chance, i]
    return share === 1 ? 0 : Math.floor(topOf(sorted[decided - 1]!) * digits) / digits
  })
  return [...new Set(thresholds.slice(start))]
}

/**
 * The probability that so many decided answers pass the test, if the true rate of errors is `rate`.
 */
function chanceToPass(decided: number, rate: number, goal: Goal): number {
  // The test passes with fewer wrong answers than this.
  let [low, high] = [0, decided + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (passes(middle, decided, goal)) low = middle + 1
    else high = middle
  }
  return low === 0 ? 0 : atMost(low - 1, decided, rate)
}

/** The smallest number of decided answers that can pass, if all of them are right. */
export function fewestAnswers({ rate, confidence }: Goal): number {
  return Math.ceil(Math.log(1 - confidence) / Math.log1p(-rate))
}

/** Whether so many wrong answers pass the test. */
function passes(wrong: number, decided: number, { rate, confidence }: Goal): boolean {
  return decided > 0 && atMost(wrong, decided, rate) <= 1 - confidence
}

/** Undefined if the answers fail the test. */
function test(threshold: number, heldOut: readonly Answered[], goal: Goal): Threshold | undefined {
  const decided = heldOut.filter((answered) => topOf(answered) >= threshold)
  const wrong = decided.filter(isWrong).length
  if (!passes(wrong, decided.length, goal)) return undefined
  return {
    threshold,
    decided: decided.length,
    wrong,
    bound: upperBound(wrong, decided.length, goal.confidence),
    undecided: 1 - decided.length / heldOut.length,
  }
}

function topOf({ probabilities }: Answered): number {
  return probabilities[argMax(probabilities)]!
}

function isWrong({ probabilities, right }: Answered): boolean {
  return argMax(probabilities) !== right
}

/**
 * From which probability on answers are decided, so that not too many of them are wrong.
 *
 * An answer is decided if its top probability (of a noul, that of yes or of no) is at least the
 * threshold. The promise: with the given confidence, the share of wrong answers among those decided
 * is at most the given rate, for further rows of the same kind. It holds for each question by
 * itself, not for all of them together.
 *
 * Choosing the best of many thresholds by the same rows would break it. So thresholds and their order
 * are fixed before the held-out rows are looked at: quantiles over the fitted rows, from the one
 * that is likeliest to pass, judged by the fitted rows, to looser ones. They are tested on the
 * held-out rows one after another, each at the full level; the first one that fails ends it, and the
 * last that passed is taken (fixed-sequence testing).
 *
 * @see A. Angelopoulos, S. Bates, E. Candès, M. Jordan, L. Lei, "Learn then test: calibrating
 *   predictive algorithms to achieve risk control", 2021, on (split) fixed-sequence testing.
 * @module
 */

import { argMax } from '../scoring/confidence.js'
import type { QuestionType } from '../scoring/calibration.js'
import { atMost, upperBound } from './binomial.js'

/** An answer as it was calibrated. */
export interface Answered {
  readonly question: string
  readonly type: QuestionType
  /** Shape [n]. */
  readonly probabilities: readonly number[]
  /** Index of the right option. */
  readonly right: number
}

export interface Goal {
  /** Of wrong answers among those decided, above 0 and below 1. */
  readonly rate: number
  /** Above 0 and below 1. */
  readonly confidence: number
}

export interface Threshold {
  /** Smallest top probability that is decided, 0 to 1; 0 decides all. */
  readonly threshold: number
  /** Held-out answers that it decides, and how many of them are wrong. */
  readonly decided: number
  readonly wrong: number
  /** The rate of errors is not above this, with the goal's confidence. At most the goal's rate. */
  readonly bound: number
  /** Share of held-out answers that it leaves undecided, 0 to 1. */
  readonly undecided: number
}

export interface QuestionThreshold {
  readonly question: string
  readonly type: QuestionType
  /** Held-out answers. */
  readonly observations: number
  /** Undefined if none holds. */
  readonly found: Threshold | undefined
  /** Why none holds. */
  readonly reason: string | undefined
}

/** Shares of the fitted rows that the thresholds decide, strictest first. */
const shares = Array.from({ length: 50 }, (_, i) => (i + 1) / 50)
/** Thresholds are tested as they are shown. */
const digits = 1e4

/**
 * A threshold for each question, in the order in which questions come.
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
  const needed = fewest(goal)
  if (heldOut.length < needed) {
    return none(`it takes ${needed} held-out answers at least, there are ${heldOut.length}`)
  }
  let found: Threshold | undefined
  for (const threshold of candidates(fitted, heldOut.length, goal)) {
    const tested = test(threshold, heldOut, goal)
    if (tested === undefined) break
    found = tested
  }
  if (found === undefined) return none('the surest answers are wrong too often, or too few')
  return { ...shared, found, reason: undefined }
}

/**
 * Thresholds in the order in which they are tested, known without the held-out answers.
 *
 * @param count - Held-out answers.
 */
function candidates(fitted: readonly Answered[], count: number, goal: Goal): readonly number[] {
  // Without fitted answers there is nothing to choose from but all.
  if (fitted.length === 0) return [0]
  const sorted = fitted.toSorted((a, b) => topOf(b) - topOf(a))
  let [at, wrong, likeliest, start] = [0, 0, -1, 0]
  const thresholds = shares.map((share, i) => {
    const decided = Math.ceil(share * sorted.length)
    for (; at < decided; at++) if (isWrong(sorted[at]!)) wrong++
    // One right and one wrong more: what was not seen yet is not impossible.
    const chance = chanceToPass(Math.floor(share * count), (wrong + 1) / (decided + 2), goal)
    if (chance > likeliest) [likeliest, start] = [chance, i]
    return share === 1 ? 0 : Math.floor(topOf(sorted[decided - 1]!) * digits) / digits
  })
  return [...new Set(thresholds.slice(start))]
}

/** That so many decided answers show the goal to be kept, if the true rate of errors is `rate`. */
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

/** The least number of decided answers that can pass, if all of them are right. */
function fewest({ rate, confidence }: Goal): number {
  return Math.ceil(Math.log(1 - confidence) / Math.log1p(-rate))
}

/** Whether so many wrong answers show that the goal is kept. */
function passes(wrong: number, decided: number, { rate, confidence }: Goal): boolean {
  return decided > 0 && atMost(wrong, decided, rate) <= 1 - confidence
}

/** Undefined if the answers do not show that the rate is kept. */
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

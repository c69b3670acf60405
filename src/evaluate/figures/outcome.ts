/**
 * The outcome of one answer.
 *
 * @module
 */

import { keysOf } from '../../api/json.js'
import type { Question } from '../../decide/types.js'
import { argMax } from '../../scoring/confidence.js'
import type { BinaryOutcome } from './binary-tally.js'
import type { Observation } from '../rows/types.js'

/** Figures of every answer. */
export interface Grade {
  /** At least 2. */
  readonly options: number
  /** Whether the likeliest option is the right one: the earliest on a tie, but yes for a noul. */
  readonly correct: boolean
  /** Probability of the likeliest option. */
  readonly confidence: number
  /** Sum over the options of (p - y)^2, y being 1 for the right one and else 0; 0 to 2. */
  readonly brier: number
  /** -ln of the right option's probability, which counts as 2^-52 at least. Nats. */
  readonly logLoss: number
}

/**
 * Everything that the figures need of an answer, small enough for one line per answer in a file.
 */
export interface Outcome extends Grade {
  readonly question: string
  readonly type: Question['type']
  /** 0 to 1. */
  readonly labelMass: number
  /** For a noul. */
  readonly noul?: BinaryOutcome
  /** For a choice with a catch-all option: whether that option is the right one. */
  readonly other?: BinaryOutcome
  /** For a score. */
  readonly score?: ScoreOutcome
  /** The right option, and the likeliest one. */
  readonly wanted: string
  readonly got: string
  /** For a choice or a score that was also asked with reversed options. */
  readonly reversed?: {
    /** Whether another option is the likeliest in reverse. */
    readonly flipped: boolean
    /** The largest change of an option's probability, 0 to 1. */
    readonly shift: number
  }
}

interface ScoreOutcome {
  /** |expected level - right level|, levels. */
  readonly error: number
  /** Ranked probability score over n - 1, 0 to 1. */
  readonly ranked: number
}

/** Kept length of a name: enough to tell options apart. */
const longestName = 80

export function gradeOf({
  type,
  probabilities,
  right,
}: Pick<Observation, 'type' | 'probabilities' | 'right'>): Grade {
  const likeliest = likeliestOf(type, probabilities)
  return {
    options: probabilities.length,
    correct: likeliest === right,
    confidence: probabilities[likeliest]!,
    brier: probabilities.reduce((sum, p, i) => sum + (p - (i === right ? 1 : 0)) ** 2, 0),
    logLoss: -Math.log(Math.max(Number.EPSILON, probabilities[right]!)),
  }
}

/**
 * @param question - The observed question.
 * @param reversed - Shape [n]: probabilities of the same options, in the same order, from the
 *   question in reverse.
 * @param others - Names of catch-all options: several of them in one choice count as one.
 */
export function outcomeOf(
  observation: Observation,
  question: Question,
  reversed?: readonly number[],
  others: ReadonlySet<string> = new Set(),
): Outcome {
  const { probabilities, right, type, labelMass } = observation
  const likeliest = likeliestOf(type, probabilities)
  const other = otherOutcome(observation, likeliest, question, others)
  return {
    question: observation.question,
    type,
    ...gradeOf(observation),
    labelMass,
    ...(type === 'noul' && {
      noul: { probability: probabilities[1]!, said: likeliest === 1, right: right === 1 },
    }),
    ...(other && { other }),
    ...(type === 'score' && { score: scoreOutcome(probabilities, right) }),
    wanted: optionName(question, right),
    got: optionName(question, likeliest),
    ...(reversed && {
      reversed: {
        flipped: likeliestOf(type, reversed) !== likeliest,
        shift: Math.max(...probabilities.map((p, i) => Math.abs(p - reversed[i]!))),
      },
    }),
  }
}

/** Undefined without a catch-all option. */
function otherOutcome(
  { probabilities, right }: Observation,
  likeliest: number,
  question: Question,
  others: ReadonlySet<string>,
): BinaryOutcome | undefined {
  if (question.type !== 'choice' || others.size === 0) return undefined
  const isOther = keysOf(question.criteria).map((name) => others.has(name))
  if (!isOther.includes(true)) return undefined
  const probability = probabilities.reduce((sum, p, i) => (isOther[i] ? sum + p : sum), 0)
  return {
    // A sum of rounded numbers may exceed 1.
    probability: Math.min(1, probability),
    said: isOther[likeliest]!,
    right: isOther[right]!,
  }
}

/**
 * The ranked probability score is sum_k (F_k - O_k)^2 over the n - 1 steps of the scale, F and O
 * being the cumulated probabilities of the answer and of the right level: being off by two levels
 * costs more than being off by one.
 *
 * @see E. S. Epstein, "A scoring system for probability forecasts of ranked categories", Journal
 *   of Applied Meteorology 8(6), 1969.
 */
function scoreOutcome(probabilities: readonly number[], right: number): ScoreOutcome {
  const steps = probabilities.length - 1
  let below = 0
  let ranked = 0
  let level = 0
  for (let i = 0; i < steps; i++) {
    below += probabilities[i]!
    ranked += (below - (i >= right ? 1 : 0)) ** 2 / steps
  }
  probabilities.forEach((p, i) => (level += i * p))
  return { error: Math.abs(level - right), ranked }
}

/** As everywhere else, a noul of .5 is a yes. */
function likeliestOf(type: Question['type'], probabilities: readonly number[]): number {
  return type === 'noul' ? Number(probabilities[1]! >= 0.5) : argMax(probabilities)
}

function optionName(question: Question, option: number): string {
  if (question.type === 'noul') return option === 1 ? 'yes' : 'no'
  if (question.type === 'score') return `level ${option}`
  return keysOf(question.criteria)[option]!.slice(0, longestName)
}

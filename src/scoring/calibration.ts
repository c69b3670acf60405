/**
 * The calibration of logits before they become probabilities, by type of question.
 *
 *     p = softmax((l + b) / T),   b added to the logit of yes, 0 for all other options
 *
 * @module
 */

import type { Question } from '../decide/types.js'

export type QuestionType = Question['type']

export interface Calibration {
  /** Dimensionless, > 0. */
  readonly temperature: number
  /** Nats, added to the logit of a noul's yes; 0 for other types. */
  readonly bias: number
}

/** The calibration for a type and a number of options; undefined if there is none. */
export type CalibrationSource = (type: QuestionType, options: number) => Calibration | undefined

/** A calibration of one model with one readout; invalid for all others. */
export interface BoundCalibration {
  /** The file's path. */
  readonly path: string
  /** `sha256:` and 64 hex digits of the weights file. */
  readonly digest: string
  /** Name and version of the readout. */
  readonly readout: string
  /** Name of the labelled data. */
  readonly data: string
  /** ISO date on which it was made. */
  readonly date: string
  /** Answers that it was fitted to. */
  readonly observations: number
  readonly of: CalibrationSource
}

const none: Calibration = { temperature: 1, bias: 0 }

/** The first source with a calibration wins; without any, logits stay unchanged. */
export function inTurn(
  ...sources: readonly (CalibrationSource | undefined)[]
): (type: QuestionType, options: number) => Calibration {
  const given = sources.filter((source) => source !== undefined)
  return (type, options) => {
    for (const source of given) {
      const found = source(type, options)
      if (found !== undefined) return found
    }
    return none
  }
}

/** Numbers of options that share a temperature, fewest first. */
export const buckets = ['2', '3-5', '6-10', '11+'] as const
export type Bucket = (typeof buckets)[number]

export function bucketOf(options: number): Bucket {
  if (options <= 2) return '2'
  if (options <= 5) return '3-5'
  return options <= 10 ? '6-10' : '11+'
}

/**
 * @param logits - Shape [n], nats; for a noul no, then yes. A rated noul, with more than two
 *   logits, has no bias.
 * @param bias - As in {@link Calibration}: 0 unless the question is a noul.
 * @returns Shape [n].
 */
export function withBias(logits: readonly number[], bias: number): readonly number[] {
  return bias === 0 || logits.length !== 2 ? logits : [logits[0]!, logits[1]! + bias]
}

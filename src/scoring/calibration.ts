/**
 * The calibration of logits before they become probabilities, by type of question.
 *
 *     p = softmax((l + b) / T),   b added to the logit of yes, 0 for all other options
 *
 * A model may have temperatures of its own. A calibration is fitted to the answers that these give,
 * and applied to them: with the model's T1 and b1, then T2 and b2, the answer is that of T1 T2 and
 * b1 + T1 b2.
 *
 * @module
 */

import type { Question } from '../decide/types.js'
import { softmax } from './softmax.js'
import type { Temperature } from './types.js'

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
  /** The model's own temperatures, on top of which it was fitted; undefined without any. */
  readonly onTopOf?: readonly Temperature[] | undefined
  readonly of: CalibrationSource
}

/** A model's own temperatures as a source. */
export function ownCalibration(temperatures: readonly Temperature[]): CalibrationSource {
  return (type, options) => {
    const found = temperatures.find(
      (row) => row.type === type && options >= row.from && options <= row.to,
    )
    return found && { temperature: found.temperature, bias: found.bias ?? 0 }
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

/**
 * Calibrates probabilities again.
 *
 * @param probabilities - Shape [n]; of a noul: no, then yes.
 * @returns Shape [n].
 */
export function onTopOf(
  probabilities: ArrayLike<number>,
  { temperature, bias }: Calibration,
): Float64Array {
  return softmax(withBias(Array.from(probabilities, Math.log), bias), temperature)
}

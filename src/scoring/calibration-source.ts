/**
 * Fitted temperatures as a source for answering.
 *
 * @module
 */

import {
  type Bucket,
  bucketOf,
  type Calibration,
  type CalibrationSource,
  type QuestionType,
} from './calibration.js'

/** The part of a calibration that answering needs. */
export type Temperatures = Readonly<
  Partial<
    Record<
      QuestionType,
      {
        readonly temperature: number
        /** Nats; for nouls only. */
        readonly bias?: number
        readonly buckets?: Readonly<Partial<Record<Bucket, { readonly temperature: number }>>>
      }
    >
  >
>

/**
 * A bucket without a temperature has its type's; a type without a temperature has no calibration.
 */
export function sourceOf(types: Temperatures): CalibrationSource {
  const known = new Map<QuestionType, (options: number) => Calibration>()
  for (const [type, { temperature, bias = 0, buckets = {} }] of Object.entries(types)) {
    const whole = { temperature, bias }
    const own = new Map(
      Object.entries(buckets).map(([bucket, { temperature }]) => [bucket, { temperature, bias }]),
    )
    known.set(type as QuestionType, (options) => own.get(bucketOf(options)) ?? whole)
  }
  return (type, options) => known.get(type)?.(options)
}

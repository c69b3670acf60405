/**
 * Observations as flat arrays, which fitting reads hundreds of times.
 *
 * @module
 */

import type { Observation } from '../rows/types.js'
import { type Bucket, bucketOf, buckets, type QuestionType } from '../../scoring/calibration.js'

/** The part of an observation that fitting needs, and its labelled row. */
export interface RowObservation extends Omit<Observation, 'labelMass'> {
  /** Equal for all observations of one row, and of rows with the same state. */
  readonly row: string
}

/** Observations of one type and bucket. m is their number. */
export interface Sample {
  /**
   * Logits of the wrong options minus that of the right one, nats, observation by observation.
   */
  readonly gaps: Float64Array
  /** Shape [m + 1]: the start of each observation's gaps. */
  readonly starts: Int32Array
  /** Shape [m]: the sign of the bias in a gap, 1 or -1 for a noul, else 0. */
  readonly signs: Int8Array
  /** Shape [m]: the number of the row. */
  readonly rows: Int32Array
}

export type Samples = ReadonlyMap<QuestionType, ReadonlyMap<Bucket, Sample>>

/**
 * A logit of -Infinity, which no temperature scales, counts as this many nats below the largest.
 */
const impossible = 100

/** Numbers rows from 0 in the order of their first observation. */
export function rowNumbers(observations: readonly RowObservation[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>()
  for (const { row } of observations) if (!numbers.has(row)) numbers.set(row, numbers.size)
  return numbers
}

/** Samples by type and bucket, fewest options first; no empty ones. */
export function samplesOf(
  observations: readonly RowObservation[],
  numbers: ReadonlyMap<string, number>,
): Samples {
  const samples = new Map<QuestionType, Map<Bucket, Sample>>()
  for (const type of ['noul', 'choice', 'score'] as const) {
    const ofType = observations.filter((observation) => observation.type === type)
    if (ofType.length === 0) continue
    const byBucket = new Map<Bucket, Sample>()
    for (const bucket of buckets) {
      const own = ofType.filter(({ logits }) => bucketOf(logits.length) === bucket)
      if (own.length > 0) byBucket.set(bucket, sampleOf(own, numbers))
    }
    samples.set(type, byBucket)
  }
  return samples
}

function sampleOf(
  observations: readonly RowObservation[],
  numbers: ReadonlyMap<string, number>,
): Sample {
  const count = observations.reduce((sum, { logits }) => sum + logits.length - 1, 0)
  const gaps = new Float64Array(count)
  const starts = new Int32Array(observations.length + 1)
  const signs = new Int8Array(observations.length)
  const rows = new Int32Array(observations.length)
  let at = 0
  observations.forEach(({ type, logits, right, row }, i) => {
    const lowest = logits.reduce((max, logit) => Math.max(max, logit), -Infinity) - impossible
    const own = Math.max(lowest, logits[right]!)
    logits.forEach((logit, option) => {
      if (option !== right) gaps[at++] = Math.max(lowest, logit) - own
    })
    starts[i + 1] = at
    // The bias raises yes: it widens the gap if no is right, and narrows it if yes is right.
    if (type === 'noul') signs[i] = right === 0 ? 1 : -1
    rows[i] = numbers.get(row)!
  })
  return { gaps, starts, signs, rows }
}

/** The number of observations. */
export function countOf(sample: Sample): number {
  return sample.rows.length
}

/**
 * Statistics of a series of measurements: its median and its spread.
 *
 * @module
 */

export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
  /** Median absolute deviation from the median: a spread that one outlier does not move. */
  readonly mad: number
}

/**
 * The middle of a series, or the mean of its two middles.
 *
 * @throws RangeError for an empty series.
 */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('a median of nothing')
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

/** @throws RangeError for an empty series. */
export function summarize(values: readonly number[]): Summary {
  const middle = median(values)
  return {
    median: middle,
    min: Math.min(...values),
    max: Math.max(...values),
    mad: median(values.map((value) => Math.abs(value - middle))),
  }
}

/**
 * The least value that a share of all values does not exceed: 0.95 gives the 95th percentile.
 *
 * @param share - 0 to 1.
 * @throws RangeError for an empty series.
 */
export function percentile(values: readonly number[] | Float64Array, share: number): number {
  if (values.length === 0) throw new RangeError('a percentile of nothing')
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
}

/** Round by round, so that a disturbance of a whole round cancels. Both have the same length. */
export function quotients(values: readonly number[], divisors: readonly number[]): number[] {
  return values.map((value, i) => value / divisors[i]!)
}

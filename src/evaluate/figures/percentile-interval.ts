/**
 * 95 % intervals from repetitions of a bootstrap.
 *
 * @module
 */

/** Lower and upper end. */
export type Interval = readonly [number, number]

const tail = 0.025

/**
 * The percentile interval.
 *
 * @param values - Of the repetitions; NaN without any.
 * @see B. Efron, R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.
 */
export function percentileInterval(values: ArrayLike<number>): Interval {
  const sorted = Float64Array.from(values).sort()
  return [quantile(sorted, tail), quantile(sorted, 1 - tail)]
}

/** @param sorted - Ascending. */
function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1)
  const below = Math.floor(place)
  const above = Math.ceil(place)
  return sorted[below]! + (place - below) * (sorted[above]! - sorted[below]!)
}

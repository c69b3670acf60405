/**
 * Quantiles of a histogram.
 *
 * @module
 */

/**
 * As Prometheus' `histogram_quantile`: linear between the bounds of the bucket in which it lies.
 *
 * @param q - 0 to 1.
 * @param bounds - The upper bounds of the buckets, ascending, the last of them infinite.
 * @param counts - One for each bucket, not cumulative.
 * @returns Undefined if nothing was counted; the largest finite bound if it lies beyond that.
 */
export function quantileOf(
  q: number,
  bounds: readonly number[],
  counts: readonly number[],
): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const rank = q * total
  let below = 0
  for (const [i, count] of counts.entries()) {
    if (below + count < rank || count === 0) {
      below += count
      continue
    }
    const lower = i === 0 ? 0 : bounds[i - 1]!
    const upper = bounds[i]!
    if (upper === Infinity) return lower
    return lower + ((upper - lower) * (rank - below)) / count
  }
  return bounds.at(-2)
}

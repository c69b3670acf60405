/**
 * Intervals of shares.
 *
 * @module
 */

/** The two-sided 95 % quantile of the normal distribution. */
const z = 1.959964

/**
 * The 95 % interval of a share.
 *
 * @see E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
 *   Journal of the American Statistical Association 22(158), 1927.
 */
export function wilson(successes: number, n: number): [number, number] {
  const share = successes / n
  const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n)
  const half =
    (z / (1 + (z * z) / n)) * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n))
  return [Math.max(0, middle - half), Math.min(1, middle + half)]
}

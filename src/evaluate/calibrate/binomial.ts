/**
 * Bounds on a rate of errors, from a number of errors.
 *
 * @module
 */

/**
 * The probability of at most so many errors in n trials.
 *
 * @param errors - 0 to `trials`.
 * @param rate - Rate of errors, 0 to 1.
 * @returns 0 to 1. Summed in logarithms, so that large n do not underflow.
 */
export function atMost(errors: number, trials: number, rate: number): number {
  if (errors >= trials || rate <= 0) return 1
  if (rate >= 1) return 0
  const odds = Math.log(rate) - Math.log1p(-rate)
  let term = trials * Math.log1p(-rate)
  let max = term
  let sum = 1
  for (let k = 1; k <= errors; k++) {
    term += Math.log((trials - k + 1) / k) + odds
    if (term > max) {
      sum = sum * Math.exp(max - term) + 1
      max = term
    } else sum += Math.exp(term - max)
  }
  return Math.min(1, Math.exp(max) * sum)
}

/**
 * The upper bound of the rate of errors, with the given confidence: exact and one-sided.
 *
 * @param errors - 0 to `trials`.
 * @param trials - At least 1.
 * @param confidence - As 0.95.
 * @returns 0 to 1, exact to 1e-12.
 * @see C. Clopper, E. Pearson, "The use of confidence or fiducial limits illustrated in the case of
 *   the binomial", Biometrika 26(4), 1934.
 */
export function upperBound(errors: number, trials: number, confidence: number): number {
  let [low, high] = [0, 1]
  while (high - low > 1e-12) {
    const middle = (low + high) / 2
    if (atMost(errors, trials, middle) > 1 - confidence) low = middle
    else high = middle
  }
  return high
}

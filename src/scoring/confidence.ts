/**
 * How sure an answer is, from 0 (all options alike) to 1 (one option alone).
 *
 * @module
 */

/** Index of the largest probability, the earliest on a tie. Shape [n], n >= 1. */
export function argMax(probabilities: ArrayLike<number>): number {
  let best = 0
  for (let i = 1; i < probabilities.length; i++) {
    if (probabilities[i]! > probabilities[best]!) best = i
  }
  return best
}

/**
 * Confidence of a choice: (p_max - 1/n) / (1 - 1/n), at least 0; 1 for a single option.
 *
 * @param probabilities - Shape [n], n >= 1, summing to 1.
 * @returns In [0, 1]. Never throws.
 * @example
 * ```ts
 * choiceConfidence([0.61, 0.2, 0.19]) // ~ 0.415
 * ```
 */
export function choiceConfidence(probabilities: ArrayLike<number>): number {
  const n = probabilities.length
  if (n === 1) return 1
  const most = probabilities[argMax(probabilities)]!
  return clamp((most - 1 / n) / (1 - 1 / n))
}

/**
 * Confidence of a score: one minus the mean distance from the most likely level m, measured in
 * the mean distance of uniformly spread levels from their middle.
 *
 *     1 - sum_i p[i] |i - m| / ((1/n) sum_i |i - (n-1)/2|)
 *
 * @param probabilities - Shape [n], n >= 1, lowest level first, summing to 1.
 * @returns In [0, 1]; 1 for a single level. Never throws.
 * @example
 * ```ts
 * scoreConfidence([0, 0.57, 0.43]) // ~ 0.355
 * ```
 */
export function scoreConfidence(probabilities: ArrayLike<number>): number {
  const n = probabilities.length
  if (n === 1) return 1
  const likeliest = argMax(probabilities)
  let distance = 0
  let spread = 0
  for (let i = 0; i < n; i++) {
    distance += probabilities[i]! * Math.abs(i - likeliest)
    spread += Math.abs(i - (n - 1) / 2) / n
  }
  return clamp(1 - distance / spread)
}

/** Rounding can leave the range by an ulp; the formulas can go below 0. */
function clamp(value: number): number {
  return Math.min(1, Math.max(0, value))
}

/**
 * The published formulas of an answer, computed from its probabilities alone.
 *
 * All take p of shape [n], n >= 1, in the order of the options or levels.
 *
 * @module
 */

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** Index of the largest, the earliest on a tie. */
export const likeliest = (p: readonly number[]) => p.indexOf(Math.max(...p))

/** (p_max - 1/n) / (1 - 1/n), at least 0; 1 for n = 1. */
export function choiceConfidence(p: readonly number[]): number {
  const even = 1 / p.length
  return p.length === 1 ? 1 : Math.max(0, (Math.max(...p) - even) / (1 - even))
}

/** 1 - sum p_i |i - m| / ((1/n) sum |i - (n-1)/2|), at least 0; 1 for n = 1. */
export function scoreConfidence(p: readonly number[]): number {
  const n = p.length
  if (n === 1) return 1
  const mode = likeliest(p)
  const distance = sum(p.map((value, i) => value * Math.abs(i - mode)))
  const even = sum(p.map((_, i) => Math.abs(i - (n - 1) / 2))) / n
  return Math.max(0, 1 - distance / even)
}

/** sum i p_i. */
export const expectedLevel = (p: readonly number[]) => sum(p.map((value, i) => i * value))

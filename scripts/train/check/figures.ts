/**
 * Figures over many answers.
 *
 * @module
 */

/** How sure an answer was, and whether it was right. */
export interface Certainty {
  /** Probability of the likeliest option. */
  readonly confidence: number
  readonly correct: boolean
}

const bins = 10

/** Expected calibration error over ten equal bins of the likeliest option's probability, 0 to 1. */
export function expectedError(answers: readonly Certainty[]): number {
  const sums = Array.from({ length: bins }, () => ({ confidence: 0, correct: 0 }))
  for (const { confidence, correct } of answers) {
    const bin = sums[Math.min(bins - 1, Math.floor(confidence * bins))]!
    bin.confidence += confidence
    bin.correct += Number(correct)
  }
  const gaps = sums.map(({ confidence, correct }) => Math.abs(confidence - correct))
  return gaps.reduce((sum, gap) => sum + gap, 0) / answers.length
}

/**
 * The chance that a positive one has the higher score than a negative one; a tie counts half.
 *
 * @returns NaN without both kinds.
 */
export function auroc(
  scores: readonly { readonly score: number; readonly positive: boolean }[],
): number {
  const sorted = scores.toSorted((a, b) => a.score - b.score)
  let rankSum = 0
  for (let i = 0; i < sorted.length;) {
    let end = i
    while (end < sorted.length && sorted[end]!.score === sorted[i]!.score) end++
    // Ranks i + 1 to end, of which ties share the mean.
    const rank = (i + 1 + end) / 2
    for (; i < end; i++) if (sorted[i]!.positive) rankSum += rank
  }
  const positives = sorted.filter(({ positive }) => positive).length
  const pairs = positives * (sorted.length - positives)
  return (rankSum - (positives * (positives + 1)) / 2) / pairs
}

/** @returns NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)]!
  return (sorted[middle - 1]! + sorted[middle]!) / 2
}

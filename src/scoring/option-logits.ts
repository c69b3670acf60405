/**
 * Turns the measurements behind a question's suffixes into one logit for each option.
 *
 * @module
 */

import { logSumExp, softmax } from './softmax.js'
import type { LabelReading, Measurement, OrdersReading, Reading, ScoreReading } from './types.js'

export interface OptionLogits {
  /** Shape [n], nats, in the caller's order; known up to a constant. */
  readonly logits: readonly number[]
  /** The total probability of all options' labels over the whole vocabulary, 0 to 1. */
  readonly labelMass: number
  /**
   * How many tokens of the vocabulary were likelier than the likeliest label, at the first place
   * that was read; the largest number of several orders. Undefined if the model was not asked.
   */
  readonly rank?: number | undefined
  /** Log-probabilities of each order, shape [orders][n]; only for averaged orders. */
  readonly orders?: readonly (readonly number[])[]
  /** True if the answer is the mean of the orders' probabilities, not of their logarithms. */
  readonly meanOfProbabilities?: true
}

/** The number of suffixes of a reading. */
export function suffixesOf(reading: Reading): number {
  if (reading.kind === 'labels') return 1
  if (reading.kind === 'scores') return reading.options.filter((suffix) => suffix !== null).length
  return reading.orders.reduce((sum, order) => sum + suffixesOf(order.reading), 0)
}

/**
 * One logit for each option.
 *
 * Averaged orders: the mean of the orders' log-probabilities, which is the geometric mean of their
 * probabilities. Over all rotations each option stands once behind each label, so a label's own
 * effect on a logit is the same for all options and cancels out. If a model's own format takes the
 * mean of probabilities instead, that mean needs each order's softmax and so the temperature:
 * `answerOf` computes it, and the logits here are those of temperature 1.
 *
 * @param measured - One for each suffix of the reading, in order.
 */
export function optionLogits(reading: Reading, measured: readonly Measurement[]): OptionLogits {
  if (reading.kind === 'orders') return meanOverOrders(reading, measured)
  return reading.kind === 'scores' ? scoreLogits(reading, measured) : labelLogits(reading, measured)
}

function scoreLogits({ options }: ScoreReading, measured: readonly Measurement[]): OptionLogits {
  const logits = options.map((suffix) => (suffix === null ? 0 : measured[suffix]!.logits[0]!))
  return { logits, labelMass: 1, rank: measured[0]?.rank }
}

/** Sums the forms of each option, in the domain of probabilities, or takes the likeliest. */
function labelLogits(
  { forms, pick }: LabelReading,
  [measured]: readonly Measurement[],
): OptionLogits {
  if (forms.length === 0) return { logits: [0], labelMass: 1 }
  const { logits: candidates, vocabulary, rank } = measured!
  let at = 0
  const logits = forms.map((count) => {
    // With one form, both are its logit; most options have one.
    if (count === 1) return candidates[at++]!
    const own: number[] = []
    for (let i = 0; i < count; i++) own.push(candidates[at++]!)
    return pick === 'likeliest' ? Math.max(...own) : logSumExp(own)
  })
  return { logits, labelMass: massOf(logits, vocabulary), rank }
}

function meanOverOrders(
  { orders, mean }: OrdersReading,
  measured: readonly Measurement[],
): OptionLogits {
  let at = 0
  let labelMass = 0
  let rank: number | undefined
  const rows = orders.map(({ places, reading }) => {
    const count = suffixesOf(reading)
    const inOrder = optionLogits(reading, measured.slice(at, at + count))
    at += count
    labelMass += inOrder.labelMass / orders.length
    if (inOrder.rank !== undefined) rank = Math.max(rank ?? 0, inOrder.rank)
    const total = logSumExp(inOrder.logits)
    return places.map((place) => inOrder.logits[place]! - total)
  })
  if (mean === 'probabilities') {
    const logits = rows[0]!.map((_, i) => logSumExp(rows.map((row) => row[i]!)))
    return { logits, labelMass, rank, orders: rows, meanOfProbabilities: true }
  }
  const logits = rows[0]!.map(
    (_, option) => rows.reduce((sum, row) => sum + row[option]!, 0) / rows.length,
  )
  return { logits, labelMass, rank, orders: rows }
}

/**
 * The largest effect of the order on an option's probability, 0 to 1.
 *
 * @param orders - Shape [orders][n], nats.
 * @param temperature - As for {@link softmax}.
 */
export function orderSpread(orders: readonly (readonly number[])[], temperature: number): number {
  const rows = orders.map((row) => softmax(row, temperature))
  let spread = 0
  for (let option = 0; option < rows[0]!.length; option++) {
    const own = rows.map((row) => row[option]!)
    spread = Math.max(spread, Math.max(...own) - Math.min(...own))
  }
  return spread
}

/** Both sums come from single-precision logits, so their quotient can pass 1 by a hair. */
function massOf(logits: readonly number[], vocabulary: number): number {
  return Math.min(1, Math.exp(logSumExp(logits) - vocabulary))
}

/**
 * Observations of a model whose miscalibration is known.
 *
 * @module
 */

import type { RowObservation } from '../../src/evaluate/calibrate/sample.js'
import type { Random } from './random.js'

interface Synthetic {
  readonly type: RowObservation['type']
  readonly options: number
  readonly count: number
  /** The temperature that restores the true probabilities. */
  readonly temperature: number
  /** The bias of nouls, nats. */
  readonly bias?: number
  /** Default: the type's name. */
  readonly question?: string
}

/** Observations with a row each; names of rows differ between questions. */
export function synthetic(
  random: Random,
  { type, options, count, temperature, bias = 0, question = type }: Synthetic,
): RowObservation[] {
  return Array.from({ length: count }, (_, i) => {
    const truth = Array.from({ length: options }, () => 2 * normal(random))
    const right = draw(random, plainSoftmax(truth))
    const logits = truth.map((logit, option) => temperature * logit - (option === 1 ? bias : 0))
    const row = `${question} ${options} ${i}`
    return { question, type, logits, probabilities: plainSoftmax(logits), right, row }
  })
}

/** Softmax in its plainest form, for moderate logits. */
export function plainSoftmax(logits: readonly number[], temperature = 1): number[] {
  const terms = logits.map((logit) => Math.exp(logit / temperature))
  const sum = terms.reduce((a, b) => a + b, 0)
  return terms.map((term) => term / sum)
}

export function draw(random: Random, probabilities: readonly number[]): number {
  let left = random.next()
  const found = probabilities.findIndex((p) => (left -= p) < 0)
  return found === -1 ? probabilities.length - 1 : found
}

/** Standard normal, by Box and Muller. */
function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()))
  return radius * Math.cos(2 * Math.PI * random.next())
}

/**
 * How good probabilities are, in the numbers of `oi eval`.
 *
 * @module
 */

import { gradeOf } from '../evaluate/outcome.js'
import { Tally } from '../evaluate/tally.js'
import type { Observation } from '../evaluate/types.js'

export type Judged = Pick<Observation, 'type' | 'probabilities' | 'right'>

export interface Figures {
  readonly observations: number
  /** Share whose most likely option is right, 0 to 1. */
  readonly accuracy: number
  /** Squared distance of the probabilities from the truth, summed over options; 0 to 2. */
  readonly brier: number
  /** Mean of -ln p(right), nats; a probability under 2^-52 counts as that. */
  readonly logLoss: number
  /**
   * Expected calibration error, 0 to 1: how far the top probability is from the share of right
   * answers, in 10 bins of equal width, weighted by their numbers.
   */
  readonly ece: number
}

/**
 * @returns Means over the observations; NaN of none.
 * @see M. Naeini, G. Cooper, M. Hauskrecht, "Obtaining well calibrated probabilities using Bayesian
 *   binning", AAAI 2015.
 */
export function figuresOf(judged: readonly Judged[]): Figures {
  const tally = new Tally()
  for (const one of judged) tally.add(gradeOf(one))
  const { answers, accuracy, brier, logLoss, ece } = tally.figures()
  return { observations: answers, accuracy, brier, logLoss, ece }
}

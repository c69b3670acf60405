/**
 * The quality of probabilities, in the figures of `oi eval`.
 *
 * @module
 */

import { gradeOf } from '../figures/outcome.js'
import { type Figures as TallyFigures, Tally } from '../figures/tally.js'
import type { Observation } from '../rows/types.js'

export type Judged = Pick<Observation, 'type' | 'probabilities' | 'right'>

export interface Figures {
  readonly observations: number
  /** Share of answers whose likeliest option is right, 0 to 1. */
  readonly accuracy: number
  /** Squared distance of the probabilities from the right answer, summed over options; 0 to 2. */
  readonly brier: number
  /** Mean of -ln p(right), nats; a probability under 2^-52 counts as that. */
  readonly logLoss: number
  /**
   * Expected calibration error, 0 to 1: the distance of the top probability from the share of right
   * answers, in 10 bins of equal width, weighted by their counts.
   */
  readonly ece: number
}

/**
 * @returns Means over the observations; NaN without any.
 * @see M. Naeini, G. Cooper, M. Hauskrecht, "Obtaining well calibrated probabilities using Bayesian
 *   binning", AAAI 2015.
 */
export function figuresOf(judged: readonly Judged[]): Figures {
  const { answers, accuracy, brier, logLoss, ece } = tallyOf(judged)
  return { observations: answers, accuracy, brier, logLoss, ece }
}

/** All figures of `oi eval`. */
export function tallyOf(judged: readonly Judged[]): TallyFigures {
  const tally = new Tally()
  for (const one of judged) tally.add(gradeOf(one))
  return tally.figures()
}

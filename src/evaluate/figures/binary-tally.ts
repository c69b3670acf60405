/**
 * Figures of yes-or-no answers, in one pass and constant memory.
 *
 * @module
 */

import {
  areaOf,
  averagePrecisionOf,
  type CurvePoint,
  curveOf,
  type Threshold,
  thresholdsOf,
} from './curves.js'
import { Ranking } from './ranking.js'

/** One answer. */
export interface BinaryOutcome {
  /** Probability of yes, 0 to 1. */
  readonly probability: number
  /** Whether the answer was yes. */
  readonly said: boolean
  /** Whether yes is right. */
  readonly right: boolean
}

/** Figures with yes as the positive class. */
export interface BinaryFigures {
  readonly answers: number
  /** Share of right answers that are yes. */
  readonly yes: number
  readonly precision: number
  readonly recall: number
  readonly f1: number
  /** Mean of (p(yes) - y)^2, 0 to 1. */
  readonly brier: number
  /** Area under the ROC curve. */
  readonly auc: number
  /** Area under precision by recall, in steps. */
  readonly averagePrecision: number
  /** By falling thresholds. */
  readonly curve: readonly CurvePoint[]
  readonly thresholds: readonly Threshold[]
}

export class BinaryTally {
  /** Counts by the right answer and the given answer. */
  readonly #counts = { yesYes: 0, yesNo: 0, noYes: 0, noNo: 0 }
  readonly #ranking = new Ranking()
  #brier = 0

  add({ probability, said, right }: BinaryOutcome): void {
    if (right) this.#counts[said ? 'yesYes' : 'yesNo']++
    else this.#counts[said ? 'noYes' : 'noNo']++
    this.#ranking.add(probability, right)
    this.#brier += (probability - Number(right)) ** 2
  }

  figures(): BinaryFigures {
    const { yesYes, yesNo, noYes, noNo } = this.#counts
    const steps = this.#ranking.steps()
    const answers = yesYes + yesNo + noYes + noNo
    return {
      answers,
      yes: (yesYes + yesNo) / answers,
      precision: yesYes / (yesYes + noYes),
      recall: yesYes / (yesYes + yesNo),
      f1: (2 * yesYes) / (2 * yesYes + noYes + yesNo),
      brier: this.#brier / answers,
      auc: areaOf(steps),
      averagePrecision: averagePrecisionOf(steps),
      curve: curveOf(steps),
      thresholds: thresholdsOf(steps),
    }
  }
}

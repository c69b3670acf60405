/**
 * Figures of answers that are yes or no, in one pass and in memory that does not grow.
 *
 * @module
 */

import { Ranking } from './ranking.js'

/** One answer. */
export interface BinaryOutcome {
  /** Of yes, 0 to 1. */
  readonly probability: number
  /** Whether yes was answered. */
  readonly said: boolean
  /** Whether yes is right. */
  readonly right: boolean
}

/** Yes is what is looked for. */
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
}

export class BinaryTally {
  /** By what is right and what was said. */
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
    const answers = yesYes + yesNo + noYes + noNo
    return {
      answers,
      yes: (yesYes + yesNo) / answers,
      precision: yesYes / (yesYes + noYes),
      recall: yesYes / (yesYes + yesNo),
      f1: (2 * yesYes) / (2 * yesYes + noYes + yesNo),
      brier: this.#brier / answers,
      auc: this.#ranking.area(),
    }
  }
}

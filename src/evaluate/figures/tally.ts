/**
 * Figures of a group of answers, in one pass and constant memory.
 *
 * @module
 */

import { type BinaryFigures, BinaryTally } from './binary-tally.js'
import { type CoveragePoint, coverageOf, type MassBin, massBinsOf } from './curves.js'
import { LogHistogram } from './histogram.js'
import type { Grade, Outcome } from './outcome.js'
import { Ranking } from './ranking.js'
import { wilson } from './wilson.js'

/** The figures of a group of answers. Means and shares of no answers are NaN. */
export interface Figures {
  readonly answers: number
  /** Share of the answers whose likeliest option is the right one. */
  readonly accuracy: number
  /** 95 % interval of the accuracy, after Wilson. */
  readonly accuracyInterval: readonly [low: number, high: number]
  /** Accuracy of guessing: the mean of 1/n. */
  readonly guessing: number
  /** Mean over the answers of sum (p - y)^2 over the options, 0 to 2. */
  readonly brier: number
  /** Nats. */
  readonly logLoss: number
  /** Expected calibration error over {@link Figures.bins}, 0 to 1. */
  readonly ece: number
  /** Ten bins of equal width over the confidence; a bin begins with its lower bound. */
  readonly bins: readonly Bin[]
  /** Up to ten bins of equally many answers, by rising confidence. */
  readonly massBins: readonly MassBin[]
  /** Errors if only the surest answers are taken, by rising coverage. */
  readonly coverage: readonly CoveragePoint[]
  /** Probability of all labels over the vocabulary: its mean and its 5 % quantile. */
  readonly labelMass: { readonly mean: number; readonly p5: number }
  readonly flips?: FlipFigures
  /** For nouls: an answer is yes from a probability of .5 on. */
  readonly noul?: BinaryFigures
  /** For choices with a catch-all option: an answer is yes if that option is the likeliest. */
  readonly other?: BinaryFigures
  readonly score?: ScoreFigures
}

interface Bin {
  readonly answers: number
  readonly confidence: number
  readonly accuracy: number
}

/** For choices and scores that were also asked with reversed options. */
interface FlipFigures {
  readonly answers: number
  /** Share whose likeliest option changes. */
  readonly rate: number
  /** Mean of the largest change of an option's probability. */
  readonly shift: number
}

interface ScoreFigures {
  readonly answers: number
  /** Mean of |expected level - right level|, levels. */
  readonly meanError: number
  /** Share of answers that are off by half a level at most. */
  readonly withinHalf: number
  /** Mean ranked probability score over n - 1, 0 to 1. */
  readonly ranked: number
}

const binCount = 10

export class Tally {
  #answers = 0
  #correct = 0
  #guessing = 0
  #brier = 0
  #logLoss = 0
  readonly #bins = Array.from({ length: binCount }, () => ({ answers: 0, correct: 0, sum: 0 }))
  readonly #confidences = new Ranking()
  readonly #labelMass = new LogHistogram(1e-9, 1)
  readonly #flips = { answers: 0, flipped: 0, shift: 0 }
  readonly #score = { answers: 0, error: 0, withinHalf: 0, ranked: 0 }
  #nouls: BinaryTally | undefined
  #others: BinaryTally | undefined

  add(outcome: Grade & Partial<Outcome>): void {
    const { correct, confidence, labelMass, reversed, score, noul, other } = outcome
    this.#answers++
    if (correct) this.#correct++
    this.#guessing += 1 / outcome.options
    this.#brier += outcome.brier
    this.#logLoss += outcome.logLoss
    if (labelMass !== undefined) this.#labelMass.add(labelMass)

    this.#confidences.add(confidence, correct)
    const bin = this.#bins[Math.min(binCount - 1, Math.floor(confidence * binCount))]!
    bin.answers++
    bin.sum += confidence
    if (correct) bin.correct++

    if (reversed) {
      this.#flips.answers++
      this.#flips.shift += reversed.shift
      if (reversed.flipped) this.#flips.flipped++
    }
    if (score) {
      this.#score.answers++
      this.#score.error += score.error
      if (score.error <= 0.5) this.#score.withinHalf++
      this.#score.ranked += score.ranked
    }
    if (noul) (this.#nouls ??= new BinaryTally()).add(noul)
    if (other) (this.#others ??= new BinaryTally()).add(other)
  }

  get answers(): number {
    return this.#answers
  }

  figures(): Figures {
    const n = this.#answers
    const flips = this.#flips
    const score = this.#score
    const steps = this.#confidences.steps()
    return {
      answers: n,
      accuracy: this.#correct / n,
      accuracyInterval: wilson(this.#correct, n),
      guessing: this.#guessing / n,
      brier: this.#brier / n,
      logLoss: this.#logLoss / n,
      // A bin's weight times its gap: the count cancels out.
      ece: this.#bins.reduce((sum, bin) => sum + Math.abs(bin.correct - bin.sum) / n, 0),
      bins: this.#bins.map((bin) => ({
        answers: bin.answers,
        confidence: bin.sum / bin.answers,
        accuracy: bin.correct / bin.answers,
      })),
      massBins: massBinsOf(steps),
      coverage: coverageOf(steps),
      labelMass: { mean: this.#labelMass.mean, p5: this.#labelMass.quantile(0.05) },
      ...(flips.answers > 0 && {
        flips: {
          answers: flips.answers,
          rate: flips.flipped / flips.answers,
          shift: flips.shift / flips.answers,
        },
      }),
      ...(this.#nouls && { noul: this.#nouls.figures() }),
      ...(this.#others && { other: this.#others.figures() }),
      ...(score.answers > 0 && {
        score: {
          answers: score.answers,
          meanError: score.error / score.answers,
          withinHalf: score.withinHalf / score.answers,
          ranked: score.ranked / score.answers,
        },
      }),
    }
  }
}

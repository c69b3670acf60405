/**
 * Two runs over the same rows, answer by answer: how much they differ, and whether chance would do
 * that.
 *
 * Rows may come in any order: the figures are the same.
 *
 * @module
 */

import type { RowRecord } from './measure.js'
import type { Outcome } from './figures/outcome.js'
import { percentileInterval } from './figures/percentile-interval.js'
import { randomFrom } from './figures/random.js'
import type { Comparison, Difference, DifferingAnswer } from './report.js'

type OtherAnswer = Pick<Outcome, 'correct' | 'brier' | 'got'>

const shownAnswers = 50
const repetitions = 1000

export class Paired {
  /** Of the other run, by line and question; some hundred bytes an answer. */
  readonly #others = new Map<number, ReadonlyMap<string, OtherAnswer>>()
  readonly #accuracy = new PairedMean()
  readonly #brier = new PairedMean()
  readonly #weights = new Float64Array(repetitions)
  #answers = 0
  #onlyHere = 0
  #onlyThere = 0
  /** By line. */
  readonly #differing: DifferingAnswer[] = []

  /** Takes a row of the other run; the first of each line counts. */
  addOther(record: RowRecord): void {
    if ('refused' in record || this.#others.has(record.line)) return
    const answers = record.outcomes.map(
      ({ question, correct, brier, got }) => [question, { correct, brier, got }] as const,
    )
    this.#others.set(record.line, new Map(answers as Iterable<readonly [string, OtherAnswer]>))
  }

  /** Takes a row of this run, once; all rows of the other run come before. */
  add(record: RowRecord): void {
    const others = this.#others.get(record.line)
    if ('refused' in record || others === undefined) return
    const pairs = record.outcomes.flatMap((here) => {
      const there = others.get(here.question)
      return there === undefined ? [] : [{ here, there }]
    })
    if (pairs.length === 0) return
    const weights = poissonWeights(record.line)
    this.#answers += pairs.length
    weights.forEach((weight, i) => (this.#weights[i]! += weight * pairs.length))
    for (const { here, there } of pairs) {
      this.#accuracy.add(Number(here.correct), Number(there.correct), weights)
      this.#brier.add(here.brier, there.brier, weights)
      if (here.correct !== there.correct) this.#note(record.line, here, there)
    }
  }

  /** @param other - The file of the other run, and its models. */
  figures(other: Pick<Comparison, 'file' | 'models'>): Comparison {
    return {
      ...other,
      answers: this.#answers,
      accuracy: this.#accuracy.figures(this.#answers, this.#weights),
      brier: this.#brier.figures(this.#answers, this.#weights),
      onlyHere: this.#onlyHere,
      onlyThere: this.#onlyThere,
      p: mcNemar(this.#onlyHere, this.#onlyThere),
      differing: this.#differing,
    }
  }

  #note(line: number, here: Outcome, there: OtherAnswer): void {
    if (here.correct) this.#onlyHere++
    else this.#onlyThere++
    const { wanted, question } = here
    const answers = { here: here.got, there: there.got }
    const at = this.#differing.findLastIndex((each) => each.line <= line) + 1
    if (at >= shownAnswers) return
    this.#differing.splice(at, 0, { line, question, wanted, ...answers })
    this.#differing.splice(shownAnswers)
  }
}

/** Two means over the same answers, and the difference in each repetition of the bootstrap. */
class PairedMean {
  #here = 0
  #there = 0
  readonly #differences = new Float64Array(repetitions)

  add(here: number, there: number, weights: Uint8Array): void {
    this.#here += here
    this.#there += there
    const difference = here - there
    if (difference === 0) return
    weights.forEach((weight, i) => (this.#differences[i]! += weight * difference))
  }

  figures(answers: number, weights: Float64Array): Difference {
    const drawn = this.#differences.map((sum, i) => sum / weights[i]!)
    return {
      here: this.#here / answers,
      there: this.#there / answers,
      difference: (this.#here - this.#there) / answers,
      // A repetition that drew no row has none.
      interval: percentileInterval(drawn.filter((difference) => !Number.isNaN(difference))),
    }
  }
}

/** Cumulated probabilities of 0, 1, … for a mean of 1. */
const poisson = (() => {
  let probability = Math.exp(-1)
  let sum = 0
  return Array.from({ length: 12 }, (_, k) => {
    sum += probability
    probability /= k + 1
    return sum
  })
})()

/**
 * How often each repetition draws a row, with all its answers: Poisson numbers of mean 1 stand for
 * draws with replacement, so that no repetition needs all rows in memory.
 *
 * @returns Shape [repetitions]; the same for the same line.
 * @see N. Chamandy, O. Muralidharan, A. Najmi, S. Naidu, "Estimating uncertainty for massive data
 *   streams", 2012.
 */
function poissonWeights(line: number): Uint8Array {
  // Seeds of neighbours must not be places of the same counter.
  const random = randomFrom(Math.imul(line, 0x2545f491))
  return Uint8Array.from({ length: repetitions }, () => {
    const drawn = random()
    let times = 0
    while (times < poisson.length && drawn >= poisson[times]!) times++
    return times
  })
}

/**
 * The probability that chance would divide the answers that only one run has right at least as
 * unevenly: twice the tail of a fair coin, 1 at most.
 *
 * @see Q. McNemar, "Note on the sampling error of the difference between correlated proportions or
 *   percentages", Psychometrika 12, 1947; the exact form.
 */
export function mcNemar(onlyHere: number, onlyThere: number): number {
  const count = onlyHere + onlyThere
  let logTerm = -count * Math.LN2
  let tail = Math.exp(logTerm)
  for (let i = 1; i <= Math.min(onlyHere, onlyThere); i++) {
    logTerm += Math.log((count - i + 1) / i)
    tail += Math.exp(logTerm)
  }
  return Math.min(1, 2 * tail)
}

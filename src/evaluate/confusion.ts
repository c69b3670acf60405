/**
 * Which answers were given where another one was right.
 *
 * @module
 */

import type { Outcome } from './figures/outcome.js'
import type { ChoiceFigures, Mistake, OptionFigures } from './report.js'

/** The most pairs of options that are counted apart. */
const mostPairs = 50_000
/** Choices with a matrix, in the order of their first answers. */
const shownChoices = 20
/** A matrix of more options would be no picture. */
const mostOptions = 255

type Pair = Mistake & Pick<Outcome, 'type' | 'correct'> & { count: number }

/** Memory: the pairs. Of right answers only those of choices are counted. */
export class Confusion {
  readonly #pairs = new Map<string, Pair>()
  #lostRight = 0
  #lostMistakes = 0

  /** @param question - Its name, shortened. */
  add(question: string, { type, wanted, got, correct }: Outcome): void {
    if (correct && type !== 'choice') return
    const key = JSON.stringify([type, question, wanted, got, correct])
    const known = this.#pairs.get(key)
    if (known) known.count++
    else if (this.#pairs.size < mostPairs) {
      this.#pairs.set(key, { question, type, wanted, got, correct, count: 1 })
    } else if (correct) this.#lostRight++
    else this.#lostMistakes++
  }

  /** Mistakes beyond the pairs that are counted apart. */
  get mistakesNotToldApart(): number {
    return this.#lostMistakes
  }

  /** The most frequent ones. */
  mistakes(most: number): Mistake[] {
    return [...this.#pairs.values()]
      .filter(({ correct }) => !correct)
      .toSorted((a, b) => b.count - a.count)
      .slice(0, most)
      .map(({ question, wanted, got, count }) => ({ question, wanted, got, count }))
  }

  /** The first choices, by option; none if their pairs are not all counted. */
  choices(): ChoiceFigures[] {
    if (this.#lostRight + this.#lostMistakes > 0) return []
    const byQuestion = new Map<string, Pair[]>()
    for (const pair of this.#pairs.values()) {
      if (pair.type !== 'choice') continue
      const pairs = byQuestion.get(pair.question)
      if (pairs) pairs.push(pair)
      else if (byQuestion.size < shownChoices) byQuestion.set(pair.question, [pair])
    }
    return [...byQuestion].flatMap(([question, pairs]) => {
      const options = optionsOf(pairs)
      return options.length > mostOptions ? [] : [figuresOf(question, options, pairs)]
    })
  }
}

/** Those that are right somewhere or were answered, the most frequent right answer first. */
function optionsOf(pairs: readonly Pair[]): OptionFigures[] {
  const counts = new Map<string, { right: number; answered: number; correct: number }>()
  const of = (name: string) => {
    const known = counts.get(name)
    if (known) return known
    const fresh = { right: 0, answered: 0, correct: 0 }
    counts.set(name, fresh)
    return fresh
  }
  for (const { wanted, got, correct, count } of pairs) {
    of(wanted).right += count
    of(got).answered += count
    if (correct) of(wanted).correct += count
  }
  return [...counts]
    .map(([name, { right, answered, correct }]) => ({
      ...{ name, right, answered, correct },
      precision: correct / answered,
      recall: correct / right,
      f1: (2 * correct) / (right + answered),
    }))
    .toSorted((a, b) => b.right - a.right || b.answered - a.answered)
}

function figuresOf(
  question: string,
  options: readonly OptionFigures[],
  pairs: readonly Pair[],
): ChoiceFigures {
  const places = new Map(options.map(({ name }, i) => [name, i]))
  const confusion = options.map(() => options.map(() => 0))
  for (const { wanted, got, count } of pairs) {
    confusion[places.get(wanted)!]![places.get(got)!]! += count
  }
  // What has no answers to be right about counts as 0, as elsewhere.
  const mean = (name: 'precision' | 'recall' | 'f1') =>
    options.reduce((sum, option) => sum + (option[name] || 0), 0) / options.length
  const macro = { precision: mean('precision'), recall: mean('recall'), f1: mean('f1') }
  return { question, options, macro, confusion }
}

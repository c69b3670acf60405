/**
 * Collects measurements row by row in constant memory.
 *
 * @module
 */

import type { Question } from '../decide/types.js'
import { LogHistogram } from './figures/histogram.js'
import { type RowRecord, sumOfTokens, type Tokens } from './measure.js'
import type { Outcome } from './figures/outcome.js'
import { Confusion } from './confusion.js'
import type { RefusalExample, Report, RunFacts } from './report.js'
import { Tally } from './figures/tally.js'
import { WrongAnswers } from './wrong-answers.js'

/**
 * The most questions with figures of their own; further questions are only in the other figures.
 */
const mostQuestions = 1000
const shownMistakes = 50
const shownRefusals = 5
const mostColumns = 48
/** Kept length of the names of questions, which can be of any length. */
const longestName = 200

export class Results {
  readonly #overall = new Tally()
  readonly #types = new Map<Question['type'], Tally>()
  readonly #questions = new Map<string, { type: Question['type']; tally: Tally }>()
  #unnamed = 0
  readonly #confusion = new Confusion()
  readonly #wrong = new WrongAnswers()
  #rows = 0
  #refused = 0
  readonly #refusals: RefusalExample[] = []
  #tokens: Tokens = { input: 0, cached: 0, image: 0, output: 0 }
  readonly #latency = new LogHistogram(1e-3, 1e7)
  readonly #model = new LogHistogram(1e-3, 1e7)

  add(record: RowRecord): void {
    if ('refused' in record) {
      this.#refused++
      const { line, refused } = record
      if (this.#refusals.length < shownRefusals) this.#refusals.push({ line, message: refused })
      return
    }
    this.#rows++
    this.#tokens = sumOfTokens(this.#tokens, record.tokens)
    this.#latency.add(record.latencyMs)
    this.#model.add(record.modelMs)
    for (const outcome of record.outcomes) this.#addOutcome(record.line, outcome)
  }

  /** Rows that were answered or refused. */
  get rows(): number {
    return this.#rows + this.#refused
  }

  /** The lines of the wrong answers that the report will show. */
  get wrongLines(): ReadonlySet<number> {
    return this.#wrong.lines
  }

  #addOutcome(line: number, outcome: Outcome): void {
    const { type } = outcome
    const question = outcome.question.slice(0, longestName)
    this.#overall.add(outcome)
    if (!this.#types.has(type)) this.#types.set(type, new Tally())
    this.#types.get(type)!.add(outcome)

    // One name may have different types in different rows.
    const key = `${type} ${question}`
    const own = this.#questions.get(key)
    if (own) own.tally.add(outcome)
    else if (this.#questions.size < mostQuestions) {
      const tally = new Tally()
      tally.add(outcome)
      this.#questions.set(key, { type, tally })
    } else this.#unnamed++

    this.#confusion.add(question, outcome)
    this.#wrong.add(line, question, outcome)
  }

  /** The figures so far. @param states - By the line of a wrong answer, the beginning of its state. */
  report(facts: RunFacts, states: ReadonlyMap<number, string> = new Map()): Report {
    const questions = [...this.#questions].map(([key, { type, tally }]) => ({
      name: key.slice(type.length + 1),
      type,
      ...tally.figures(),
    }))
    const seconds = facts.elapsedMs / 1000
    const types: Report['types'] = Object.fromEntries(
      (['noul', 'choice', 'score'] as const)
        .filter((type) => this.#types.has(type))
        .map((type) => [type, this.#types.get(type)!.figures()]),
    )
    return {
      ...facts.about,
      rows: {
        inFile: facts.rowsInFile,
        answered: this.#rows,
        refused: this.#refused,
        refusals: this.#refusals,
      },
      whole: facts.whole,
      overall: this.#overall.figures(),
      types,
      questions,
      answersOfFurtherQuestions: this.#unnamed,
      mistakes: this.#confusion.mistakes(shownMistakes),
      mistakesNotToldApart: this.#confusion.mistakesNotToldApart,
      choices: this.#confusion.choices(),
      wrong: this.#wrong.list(states),
      tokens: this.#tokens,
      latencyMs: { ...this.#latency.quantiles(), columns: this.#latency.columns(mostColumns) },
      modelMs: this.#model.quantiles(),
      seconds,
      decisionsPerSecond: this.#rows / seconds,
      answersPerSecond: this.#overall.answers / seconds,
    }
  }
}

/**
 * The report of `oi eval`: `--json` prints it; table and page are made from it.
 *
 * Types only.
 *
 * @module
 */

import type { Question } from '../decide/types.js'
import type { Column, Quantiles } from './figures/histogram.js'
import type { Tokens } from './measure.js'
import type { Figures } from './figures/tally.js'

/** The subject of the measurements. */
export interface ReportHead {
  /** The labelled file, as named on the command line. */
  readonly file: string
  /** `sha256:` and 64 hex digits of the file. */
  readonly digest: string
  /** The models that may have answered; a server may have several. */
  readonly models: readonly ReportModel[]
  /** The server's address, if a server was asked. */
  readonly url?: string
  /** A warning about the figures. */
  readonly warning?: string
  /** Whether choices and scores were asked in reverse as well. */
  readonly reversed: boolean
  readonly concurrency: number
  /** ISO time of the report. */
  readonly date: string
  /** The version of this package. */
  readonly version: string
}

export interface ReportModel {
  readonly name: string
  readonly digest?: string
  /** As `letters@1`. */
  readonly readout?: string
}

export interface Report extends ReportHead {
  readonly rows: {
    readonly inFile: number
    readonly answered: number
    /** Rows that the model did not accept; they are in no figure. */
    readonly refused: number
    /** The first refused rows. */
    readonly refusals: readonly RefusalExample[]
  }
  /** False if the run was interrupted. */
  readonly whole: boolean
  readonly overall: Figures
  readonly types: Readonly<Partial<Record<Question['type'], Figures>>>
  /** In the order of their first answers. */
  readonly questions: readonly QuestionFigures[]
  /** Answers beyond the first thousand questions, which have figures. */
  readonly answersOfFurtherQuestions: number
  /** The most frequent mistakes. */
  readonly mistakes: readonly Mistake[]
  /** The first choices, by option. */
  readonly choices: readonly ChoiceFigures[]
  /** Wrong answers, the surest first. */
  readonly wrong: readonly WrongAnswer[]
  /** Mistakes beyond the first 50,000 pairs of options. */
  readonly mistakesNotToldApart: number
  readonly tokens: Tokens
  /** From request to answer. */
  readonly latencyMs: Quantiles & { readonly columns: readonly Column[] }
  /** The model's part of the latency. */
  readonly modelMs: Quantiles
  /** Time of all runs, if the run was resumed. */
  readonly seconds: number
  /** Answered rows; a row in reverse does not count again. */
  readonly decisionsPerSecond: number
  /** Answered questions whose right answer is known. */
  readonly answersPerSecond: number
  /** Of all tokens, with the prices of the command. */
  readonly credits?: number
  /** With `--against`, or a second model. */
  readonly against?: Comparison
}

/** This run beside another one over the same rows: the answers that both have. */
export interface Comparison {
  /** The file in which the other run was kept, if it was. */
  readonly file?: string
  readonly models: readonly ReportModel[]
  readonly answers: number
  readonly accuracy: Difference
  readonly brier: Difference
  /** Answers that are right in one of the runs alone. */
  readonly onlyHere: number
  readonly onlyThere: number
  /** Of McNemar's exact test: the probability of so uneven a division by chance. */
  readonly p: number
  /** The first of them, by line. */
  readonly differing: readonly DifferingAnswer[]
}

export interface Difference {
  readonly here: number
  readonly there: number
  /** `here` less `there`. */
  readonly difference: number
  /** 95 %, by the bootstrap over rows. */
  readonly interval: readonly [number, number]
}

export interface DifferingAnswer {
  readonly line: number
  readonly question: string
  readonly wanted: string
  readonly here: string
  readonly there: string
}

interface QuestionFigures extends Figures {
  readonly name: string
  readonly type: Question['type']
}

export interface Mistake {
  readonly question: string
  readonly wanted: string
  readonly got: string
  readonly count: number
}

/** The answers to one choice. */
export interface ChoiceFigures {
  readonly question: string
  /** Those that are right somewhere or were answered, the most frequent right answer first. */
  readonly options: readonly OptionFigures[]
  /** Means over the options; a figure that an option lacks counts as 0. */
  readonly macro: Pick<OptionFigures, 'precision' | 'recall' | 'f1'>
  /** Answers by the right option and then by the given one, in the order of `options`. */
  readonly confusion: readonly (readonly number[])[]
}

export interface OptionFigures {
  readonly name: string
  /** Answers of which it is the right one. */
  readonly right: number
  readonly answered: number
  /** Answers that are rightly it. */
  readonly correct: number
  /** NaN if it was never answered. */
  readonly precision: number
  /** NaN if it is never right. */
  readonly recall: number
  readonly f1: number
}

export interface WrongAnswer {
  readonly line: number
  readonly question: string
  readonly wanted: string
  readonly got: string
  /** Probabilities of the given answer and of the right one. */
  readonly confidence: number
  readonly ofRight: number
  /** The beginning of the state. */
  readonly state?: string
}

export interface RefusalExample {
  readonly line: number
  readonly message: string
}

/** Facts of the run that the results do not have. */
export interface RunFacts {
  readonly about: ReportHead
  readonly rowsInFile: number
  readonly whole: boolean
  readonly elapsedMs: number
}

/**
 * What `oi eval` reports: the object that `--json` prints, and of which table and page are made.
 *
 * Types only.
 *
 * @module
 */

import type { Question } from '../decide/types.js'
import type { Column, Quantiles } from './histogram.js'
import type { Tokens } from './measure.js'
import type { Figures } from './tally.js'

/** What was measured on what. */
export interface ReportHead {
  /** The labelled file, as it was named. */
  readonly file: string
  /** `sha256:` and 64 hex digits of it. */
  readonly digest: string
  /** The models that could be asked; a server may have several. */
  readonly models: readonly ReportModel[]
  /** The server's address, if it was one. */
  readonly url?: string
  /** What must be known before the figures are believed. */
  readonly warning?: string
  /** Whether choices and scores were asked in reverse as well. */
  readonly reversed: boolean
  readonly concurrency: number
  /** ISO time of the report. */
  readonly date: string
  /** Of this package. */
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
    /** Those that the model did not accept; they are in no figure. */
    readonly refused: number
    /** The first of them. */
    readonly refusals: readonly RefusalExample[]
  }
  /** False if the run was interrupted. */
  readonly whole: boolean
  readonly overall: Figures
  readonly types: Readonly<Partial<Record<Question['type'], Figures>>>
  /** In the order in which they were met. */
  readonly questions: readonly QuestionFigures[]
  /** Beyond the first thousand questions, which have figures. */
  readonly answersOfFurtherQuestions: number
  /** The most frequent ones. */
  readonly mistakes: readonly Mistake[]
  /** Beyond the first 50,000 pairs of options. */
  readonly mistakesNotToldApart: number
  readonly tokens: Tokens
  /** From asking to the answer. */
  readonly latencyMs: Quantiles & { readonly columns: readonly Column[] }
  /** The model's own part. */
  readonly modelMs: Quantiles
  /** Of all runs, if it was taken up again. */
  readonly seconds: number
  /** Answered rows; those in reverse do not count as rows of their own. */
  readonly decisionsPerSecond: number
  /** Answered questions whose right answer is known. */
  readonly answersPerSecond: number
}

export interface QuestionFigures extends Figures {
  readonly name: string
  readonly type: Question['type']
}

export interface Mistake {
  readonly question: string
  readonly wanted: string
  readonly got: string
  readonly count: number
}

export interface RefusalExample {
  readonly line: number
  readonly message: string
}

/** What the figures themselves do not know. */
export interface RunFacts {
  readonly about: ReportHead
  readonly rowsInFile: number
  readonly whole: boolean
  readonly elapsedMs: number
}

/**
 * One run of `oi eval` over all rows, with one subject.
 *
 * @module
 */

import { costOf, type Price } from '../../accounts/ledger/money.js'
import { Journal, type RunIdentity } from '../../evaluate/journal.js'
import { measureRow, type RowRecord, type Tokens } from '../../evaluate/measure.js'
import type { Report, ReportHead } from '../../evaluate/report.js'
import { Results } from '../../evaluate/results.js'
import { rowsAt, type RowsFile } from '../../evaluate/rows/rows-file.js'
import { firstRows, runRows } from '../../evaluate/run.js'
import type { Survey } from '../../evaluate/rows/survey.js'
import { beginningOf } from '../../evaluate/wrong-answers.js'
import { packageVersion } from '../../package-root.js'
import type { Dependencies } from '../../server/dependencies.js'
import { listenForStop } from '../../terminal/signals.js'
import { withProgress } from '../../terminal/progress.js'
import { rowLimits, type TableFlags } from '../input/table-flags.js'
import type { OpenedSubject } from '../open-subject.js'
import type { EvaluatedRows } from './evaluated-rows.js'
import type { OtherRun } from './other-run.js'

export interface EvalOptions extends TableFlags {
  readonly flips?: boolean
  readonly other?: readonly string[]
  readonly limit?: number
  readonly concurrency: number
  readonly resume?: string
  /** A file of another run's `resume`. */
  readonly against?: string
  /** Whole millionths of a credit. */
  readonly inputPrice?: number
  readonly outputPrice?: number
  readonly imagePrice?: number
  readonly json?: boolean
  readonly html?: string
  /** The file for the rows with their answers. */
  readonly rowsOut?: string
}

export interface RunOptions {
  readonly other?: OtherRun | undefined
  readonly out?: EvaluatedRows | undefined
  readonly onRecord?: (record: RowRecord) => void
}

/** The report does not contain the failure. */
export interface Ended {
  readonly report: Report
  readonly failure: Error | undefined
}

export class Run {
  readonly #file: RowsFile
  readonly #survey: Survey
  readonly #opened: OpenedSubject
  readonly #options: EvalOptions
  readonly #results = new Results()
  readonly #how: RunOptions
  readonly #flips: boolean
  readonly #others: ReadonlySet<string>
  #elapsedMs = () => 0

  constructor(
    file: RowsFile,
    survey: Survey,
    opened: OpenedSubject,
    options: EvalOptions,
    how: RunOptions,
  ) {
    this.#how = how
    this.#file = file
    this.#survey = survey
    this.#opened = opened
    this.#options = options
    this.#flips = options.flips ?? false
    this.#others = new Set(options.other)
  }

  /** Measures all rows, or those before a signal or a failure. */
  async toEnd(exit: Dependencies['exit']): Promise<Ended> {
    const journal = await this.#openJournal()
    const startMs = performance.now()
    this.#elapsedMs = () => journal?.elapsedMs ?? performance.now() - startMs
    const signals = listenForStop(exit)
    const stop = new AbortController()
    void signals.first.then(() => stop.abort())
    let whole = false
    let failure: Error | undefined
    try {
      whole = await withProgress('Asking', (show) => this.#measure(journal, stop.signal, show))
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
    } finally {
      signals.dispose()
    }
    const report = await this.#report(whole)
    journal?.close()
    try {
      this.#how.out?.close()
    } catch (error) {
      failure ??= error as Error
    }
    return { report, failure }
  }

  async #openJournal(): Promise<Journal | undefined> {
    const { resume } = this.#options
    if (resume === undefined) return undefined
    const { identity } = this.#opened.subject
    const others = [...this.#others].toSorted()
    const of: RunIdentity = {
      data: this.#survey.digest,
      models: identity,
      flips: this.#flips,
      others,
    }
    return Journal.open(resume, of, (record) => this.#add(record))
  }

  #add(record: RowRecord): void {
    this.#results.add(record)
    this.#how.other?.paired.add(record)
    this.#how.onRecord?.(record)
  }

  #measure(
    journal: Journal | undefined,
    signal: AbortSignal,
    show: (fraction: number, note: string) => void,
  ): Promise<boolean> {
    const { limit = Infinity, concurrency } = this.#options
    const { ask, maxQuestions } = this.#opened.subject
    const how = { ask, maxQuestions, flips: this.#flips, others: this.#others }
    const total = Math.min(limit, this.#survey.rows)
    const before = this.#results.rows
    const startMs = performance.now()
    const onRecord = (record: RowRecord) => {
      this.#add(record)
      journal?.append(record)
      const { rows } = this.#results
      const perSecond = (1000 * (rows - before)) / (performance.now() - startMs)
      show(Math.min(1, rows / total), `${rows} of ${total} rows, ${perSecond.toFixed(1)}/s`)
    }
    return runRows(firstRows(this.#file.rows(rowLimits), limit), {
      concurrency,
      measure: (row, of) => measureRow(row, how, of),
      onRecord,
      isDone: (line) => journal?.has(line) ?? false,
      inOrder: this.#how.out?.inOrder(journal),
      signal,
    })
  }

  async #report(whole: boolean): Promise<Report> {
    const { subject, url, warning } = this.#opened
    const about: ReportHead = {
      file: this.#file.name,
      digest: this.#survey.digest,
      models: subject.models,
      ...(url !== undefined && { url }),
      ...(warning !== undefined && { warning }),
      reversed: this.#flips,
      concurrency: this.#options.concurrency,
      date: new Date().toISOString(),
      version: packageVersion(),
    }
    const rowsInFile = this.#survey.rows
    const facts = { about, rowsInFile, whole, elapsedMs: this.#elapsedMs() }
    const states = new Map<number, string>()
    for await (const row of rowsAt(this.#file.rows(rowLimits), this.#results.wrongLines)) {
      states.set(row.line, beginningOf(row.request.state))
    }
    const report = this.#results.report(facts, states)
    const { other } = this.#how
    const price = priceOf(this.#options)
    return {
      ...report,
      ...(price && { credits: creditsOf(report.tokens, price) }),
      ...(other && { against: other.paired.figures(other.about) }),
    }
  }
}

/** Undefined without any price. */
function priceOf({ inputPrice, outputPrice, imagePrice }: EvalOptions): Price | undefined {
  const given = [inputPrice, outputPrice, imagePrice]
  if (given.every((price) => price === undefined)) return undefined
  const [input, output, image] = given.map((price = 0) => price)
  return { input: input!, output: output!, image: image! }
}

/** As of one request, so that nothing is rounded before the end. */
function creditsOf({ input, image, output }: Tokens, price: Price): number {
  const tokens = { input_tokens: input, image_tokens: image, output_tokens: output }
  return costOf(tokens, price) / 1e6
}

/**
 * One run of `oi eval`, from the labelled file to the report.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import { reportPage } from '../../evaluate/html/page.js'
import { isJsonObject } from '../../api/json.js'
import { Journal, readOtherRun, type RunIdentity } from '../../evaluate/journal.js'
import { measureRow, type RowRecord } from '../../evaluate/measure.js'
import { Paired } from '../../evaluate/paired.js'
import type { Comparison, Report, ReportHead } from '../../evaluate/report.js'
import { Results } from '../../evaluate/results.js'
import { rowsAt, RowsFile } from '../../evaluate/rows-file.js'
import { firstRows, runRows } from '../../evaluate/run.js'
import { type Survey, surveyRows } from '../../evaluate/survey.js'
import { beginningOf } from '../../evaluate/wrong-answers.js'
import { packageVersion } from '../../package-root.js'
import type { Dependencies } from '../../server/dependencies.js'
import { exitCodes } from '../exit-codes.js'
import { EvaluatedRows } from './evaluated-rows.js'
import { evaluationText } from './evaluation-text.js'
import { print, printError } from '../../terminal/print.js'
import { withProgress } from '../../terminal/progress.js'
import { requireAnother, requireWritable, writePage } from '../output/output-files.js'
import { rowLimits, rowReader, type TableFlags } from '../input/table-flags.js'
import type { OpenedSubject, OpenSubject } from '../open-subject.js'
import { listenForStop } from '../../terminal/signals.js'

export interface EvalOptions extends TableFlags {
  readonly flips?: boolean
  readonly other?: readonly string[]
  readonly limit?: number
  readonly concurrency: number
  readonly resume?: string
  /** A file of another run's `resume`. */
  readonly against?: string
  readonly json?: boolean
  readonly html?: string
  /** The file for the rows with their answers. */
  readonly rowsOut?: string
}

/**
 * @returns The exit code. @throws {@link OiError} The error that ended the run, after the figures
 * so far.
 */
export async function evaluateFile(
  path: string,
  open: OpenSubject,
  options: EvalOptions,
  dependencies: Pick<Dependencies, 'exit'>,
): Promise<number> {
  // Errors of files show before a model is loaded, or asked for hours.
  if (options.html !== undefined) requireWritable('--html', options.html)
  if (options.rowsOut !== undefined) {
    requireWritable('--rows-out', options.rowsOut)
    const { resume, against } = options
    requireAnother('--rows-out', options.rowsOut, {
      '<file>': path,
      '--resume': resume,
      '--against': against,
    })
  }
  const { reader, questions } = await rowReader(options)
  const file = await RowsFile.open(path, reader)
  try {
    const out =
      options.rowsOut === undefined ? undefined : new EvaluatedRows(options.rowsOut, questions)
    return await evaluateRows(file, open, options, dependencies, out)
  } finally {
    await file.close()
  }
}

async function evaluateRows(
  file: RowsFile,
  open: OpenSubject,
  options: EvalOptions,
  { exit }: Pick<Dependencies, 'exit'>,
  out: EvaluatedRows | undefined,
): Promise<number> {
  const survey = await withProgress('Reading the rows', (onProgress) =>
    surveyRows(file, rowLimits, {
      others: options.other ?? [],
      onProgress,
      check: out?.check,
    }),
  )
  if (survey.rows === 0) throw new OiError('ERR_CONFIG', `${file.name}: expected at least one row`)
  if (survey.missing.length > 0) {
    const names = survey.missing.map((name) => JSON.stringify(name)).join(', ')
    throw new OiError(
      'ERR_CONFIG',
      `--other: no choice with a right answer has the option ${names}`,
    )
  }

  const other = await readOther(options, survey)
  const opened = await open()
  try {
    if (opened.warning !== undefined) printError(`${opened.warning}\n`)
    const run = new Run(file, survey, opened, options, other, out)
    const { report, failure } = await run.toEnd(exit)
    if (failure === undefined || report.rows.answered > 0) await write(report, options)
    if (!report.whole) printError(`${howToGoOn(report, options)}\n`)
    if (failure !== undefined) throw failure
    return report.whole && report.rows.refused === 0 ? exitCodes.ok : exitCodes.failure
  } finally {
    await opened.close()
  }
}

interface OtherRun {
  readonly paired: Paired
  readonly about: Pick<Comparison, 'file' | 'models'>
}

/** The run of `--against`. */
async function readOther(
  { against }: EvalOptions,
  { digest }: Survey,
): Promise<OtherRun | undefined> {
  if (against === undefined) return undefined
  const paired = new Paired()
  const facts = await readOtherRun(against, digest, (record) => paired.addOther(record))
  const models = (Array.isArray(facts) ? facts : []).flatMap((card) => {
    const name = isJsonObject(card) ? card['name'] : undefined
    if (typeof name !== 'string') return []
    const { readout } = card as { readout?: unknown }
    return typeof readout === 'string' ? [{ name, readout }] : [{ name }]
  })
  return { paired, about: { file: against, models } }
}

class Run {
  readonly #file: RowsFile
  readonly #survey: Survey
  readonly #opened: OpenedSubject
  readonly #options: EvalOptions
  readonly #results = new Results()
  readonly #other: OtherRun | undefined
  readonly #out: EvaluatedRows | undefined
  readonly #flips: boolean
  readonly #others: ReadonlySet<string>
  #elapsedMs = () => 0

  constructor(
    file: RowsFile,
    survey: Survey,
    opened: OpenedSubject,
    options: EvalOptions,
    other: OtherRun | undefined,
    out: EvaluatedRows | undefined,
  ) {
    this.#other = other
    this.#out = out
    this.#file = file
    this.#survey = survey
    this.#opened = opened
    this.#options = options
    this.#flips = options.flips ?? false
    this.#others = new Set(options.other)
  }

  /**
   * Measures all rows, or those before a signal or a failure. The report does not contain the
   * failure.
   */
  async toEnd(exit: Dependencies['exit']): Promise<{ report: Report; failure: Error | undefined }> {
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
      this.#out?.close()
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
    this.#other?.paired.add(record)
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
      inOrder: this.#out?.inOrder(journal),
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
    const other = this.#other
    return other ? { ...report, against: other.paired.figures(other.about) } : report
  }
}

async function write(report: Report, { json, html }: EvalOptions): Promise<void> {
  const text = json ? `${JSON.stringify(report, null, 2)}\n` : evaluationText(report)
  print(text)
  if (html !== undefined) await writePage(html, reportPage(report))
}

function howToGoOn({ rows }: Report, { resume }: EvalOptions): string {
  const done = `Ended early: ${rows.answered + rows.refused} of ${rows.inFile} rows are measured`
  return resume === undefined
    ? `${done}. With --resume <file>, an interrupted run can be resumed.`
    : `${done} and kept in ${resume}. The same command continues from there.`
}

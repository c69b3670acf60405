/**
 * One run of `oi eval`, from the labelled file to the report.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import { reportPage } from '../../evaluate/html/page.js'
import { Paired } from '../../evaluate/paired.js'
import type { Report } from '../../evaluate/report.js'
import { RowsFile } from '../../evaluate/rows/rows-file.js'
import { surveyRows } from '../../evaluate/rows/survey.js'
import type { Dependencies } from '../../server/dependencies.js'
import { exitCodes } from '../exit-codes.js'
import { EvaluatedRows } from './evaluated-rows.js'
import { evaluationText } from './evaluation-text.js'
import { type Ended, type EvalOptions, Run, type RunOptions } from './measured-run.js'
import { keptRun } from './other-run.js'
import { print, printError } from '../../terminal/print.js'
import { withProgress } from '../../terminal/progress.js'
import { requireAnother, requireWritable, writePage } from '../output/output-files.js'
import { rowLimits, rowReader } from '../input/table-flags.js'
import { withOpened } from '../load-model.js'
import type { OpenSubject } from '../open-subject.js'

/**
 * @param models - Of the repeated flag.
 * @throws {@link OiError} `ERR_CONFIG` if they are too many, or cannot be with the other flags.
 */
export function requireOneRun({ against, resume }: EvalOptions, models: readonly string[]): void {
  if (models.length < 2) return
  if (models.length > 2) throw new OiError('ERR_CONFIG', '--model: expected one, or two to compare')
  const [flag] = Object.entries({ against, resume }).find(([, value]) => value !== undefined) ?? []
  if (flag === undefined) return
  throw new OiError(
    'ERR_CONFIG',
    `--${flag} is about one model: evaluate one with --resume run.jsonl, then the other with --against run.jsonl`,
  )
}

/**
 * @param open - A second subject is compared with the first, whose report it is.
 * @returns The exit code. @throws {@link OiError} The error that ended the run, after the figures
 * so far.
 */
export async function evaluateFile(
  path: string,
  open: readonly OpenSubject[],
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
  [open, openOther]: readonly OpenSubject[],
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
  if (survey.missing.length > 0) {
    const names = survey.missing.map((name) => JSON.stringify(name)).join(', ')
    throw new OiError(
      'ERR_CONFIG',
      `--other: no choice with a right answer has the option ${names}`,
    )
  }

  const run = (subject: OpenSubject, how: RunOptions): Promise<Ended> =>
    withOpened(subject(), (opened) => new Run(file, survey, opened, options, how).toEnd(exit))
  const { against } = options
  let other = against === undefined ? undefined : await keptRun(against, survey.digest)
  if (openOther !== undefined) {
    // First, as the figures of the comparison are made when the first model's rows come.
    const paired = new Paired()
    const second = await run(openOther, { onRecord: (record) => paired.addOther(record) })
    const { report, failure } = second
    if (failure !== undefined || !report.whole) return finish(second, options)
    other = { paired, about: { models: report.models } }
  }
  return finish(await run(open!, { out, other }), options)
}

/** Writes the report. @returns The exit code. @throws The failure. */
async function finish({ report, failure }: Ended, options: EvalOptions): Promise<number> {
  if (failure === undefined || report.rows.answered > 0) await write(report, options)
  if (!report.whole) printError(`${howToGoOn(report, options)}\n`)
  if (failure !== undefined) throw failure
  return report.whole && report.rows.refused === 0 ? exitCodes.ok : exitCodes.failure
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

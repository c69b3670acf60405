/**
 * `oi ask --rows`: the same questions about every row of a file, or the request that each row is.
 *
 * Rules
 *   1. Bad rows are told before the first request.
 *   2. Rows are written in the order of the file, however they finish, and not kept: memory holds those
 *      that are asked and a few that wait for one before them.
 *   3. With `--resume`, a row is kept as soon as it is answered, and not asked again.
 *   4. A first signal starts no further row, and waits a few seconds for those that are asked.
 *
 * @module
 */

import { keysOf, stringifyJson } from '../../api/json.js'
import type { DecideRequest } from '../../decide/types.js'
import { EarlierRecords } from '../../evaluate/rows/earlier-records.js'
import { commonMeanings, Journal, type JournalKind } from '../../evaluate/journal.js'
import { refusalOf } from '../../evaluate/measure.js'
import { showCount } from '../../evaluate/numbers.js'
import { placeIn } from '../../evaluate/rows/records.js'
import { askedReader } from '../../evaluate/rows/rows.js'
import { RowsFile } from '../../evaluate/rows/rows-file.js'
import { firstRows, runRows } from '../../evaluate/run.js'
import type { Subject } from '../../evaluate/subject.js'
import { surveyRows } from '../../evaluate/rows/survey.js'
import { askedTableReader } from '../../evaluate/rows/table-rows.js'
import type { AskedRow } from '../../evaluate/rows/types.js'
import type { Dependencies } from '../../server/dependencies.js'
import { exitCodes } from '../exit-codes.js'
import { rowLimits, usualState } from '../input/table-flags.js'
import { withOpened } from '../load-model.js'
import type { OpenSubject } from '../open-subject.js'
import { oneLine } from '../../terminal/text-table.js'
import { printError, printNext } from '../../terminal/print.js'
import { withProgress } from '../../terminal/progress.js'
import { listenForStop } from '../../terminal/signals.js'
import { type AskedRecord, RowsOut } from '../output/rows-out.js'

export interface AskRowsOptions {
  /** The file. */
  readonly rows: string
  readonly state?: readonly string[]
  readonly concurrency?: number
  readonly limit?: number
  readonly resume?: string
  readonly evidence?: boolean
  readonly json?: boolean
}

const usualConcurrency = 16
/** How long rows that are asked may last after a signal, milliseconds. */
const graceMs = 5000
/** Refused rows that are told one by one; all are in the output. */
const toldRefusals = 5

const journalKind: JournalKind = {
  format: 'oi-ask@1',
  command: 'oi ask',
  meanings: {
    ...commonMeanings,
    data: 'it was made with other rows, or with other questions',
    evidence: 'one of the two runs has --evidence, and the other has not',
  },
  members: ['answers', 'refused'],
}

/**
 * @param questions - Those about every row; without them, each row is a whole request.
 * @returns The exit code.
 * @throws {@link OiError} For the first bad row, with its place; the error that ended the run, after
 *   the rows so far.
 */
export async function askRowsFile(
  options: AskRowsOptions,
  questions: DecideRequest['questions'] | undefined,
  open: OpenSubject,
  { exit }: Pick<Dependencies, 'exit'>,
): Promise<number> {
  const { rows, state = [usualState], limit = Infinity } = options
  const out = new RowsOut(questions ? keysOf(questions) : [], options.json ?? false)
  const reader = questions ? askedTableReader({ questions, state }) : askedReader
  const file = await RowsFile.open<AskedRow>(rows, reader)
  try {
    const survey = await withProgress('Reading the rows', (onProgress) =>
      surveyRows(file, rowLimits, { onProgress, check: ({ record }) => out.requireFree(record) }),
    )
    return await withOpened(open(), async ({ subject }) => {
      const journal = await openJournal(options, subject, survey.digest)
      const total = Math.min(limit, survey.rows)
      const run = new Run(subject, options, out, journal, total)
      return run.toEnd(firstRows(file.rows(rowLimits), limit), exit)
    })
  } finally {
    await file.close()
  }
}

async function openJournal(
  { resume, evidence = false }: AskRowsOptions,
  { identity }: Subject,
  digest: string,
): Promise<Journal<AskedRecord> | undefined> {
  if (resume === undefined) return undefined
  const of = { data: digest, models: identity, evidence }
  return Journal.open<AskedRecord>(resume, of, () => {}, journalKind)
}

class Run {
  readonly #subject: Subject
  readonly #options: AskRowsOptions
  readonly #out: RowsOut
  readonly #journal: Journal<AskedRecord> | undefined
  readonly #total: number
  readonly #drop = new AbortController()
  #stopping = false
  /** Rows that are written, and the refused among them. */
  #written = 0
  #refused = 0

  constructor(
    subject: Subject,
    options: AskRowsOptions,
    out: RowsOut,
    journal: Journal<AskedRecord> | undefined,
    total: number,
  ) {
    this.#subject = subject
    this.#options = options
    this.#out = out
    this.#journal = journal
    this.#total = total
  }

  /** @returns The exit code. @throws The error that ended it. */
  async toEnd(rows: AsyncIterable<AskedRow>, exit: Dependencies['exit']): Promise<number> {
    const signals = listenForStop(exit)
    void signals.first.then(() => {
      this.#stopping = true
      setTimeout(() => this.#drop.abort(), graceMs).unref()
    })
    try {
      await withProgress('Asking', (show) => this.#ask(rows, show))
    } finally {
      signals.dispose()
      this.#journal?.close()
      await printNext(this.#out.end())
      this.#tell()
    }
    const whole = this.#written === this.#total && this.#refused === 0
    return whole ? exitCodes.ok : exitCodes.failure
  }

  #ask(
    rows: AsyncIterable<AskedRow>,
    show: (fraction: number, note: string) => void,
  ): Promise<boolean> {
    const journal = this.#journal
    const earlier = journal && new EarlierRecords(journal.earlier())
    const startMs = performance.now()
    let asked = 0
    return runRows(this.#untilStop(rows), {
      concurrency: this.#options.concurrency ?? usualConcurrency,
      measure: (row, signal) => this.#answer(row, signal),
      onRecord: (record) => {
        asked++
        journal?.append(record)
      },
      isDone: (line) => journal?.has(line) ?? false,
      inOrder: {
        earlier: (line) => earlier!.take(line),
        write: async (row, record) => {
          await this.#write(row, record)
          const perSecond = (1000 * asked) / (performance.now() - startMs)
          const note = `${this.#written} of ${this.#total} rows, ${perSecond.toFixed(1)}/s`
          show(this.#written / this.#total, note)
        },
      },
      signal: this.#drop.signal,
    })
  }

  async *#untilStop(rows: AsyncIterable<AskedRow>): AsyncGenerator<AskedRow, void, undefined> {
    for await (const row of rows) {
      if (this.#stopping) return
      yield row
    }
  }

  async #answer({ line, request }: AskedRow, signal: AbortSignal): Promise<AskedRecord> {
    try {
      const { answers } = await this.#subject.ask(request, signal)
      return { line, answers: stringifyJson(answers) }
    } catch (error) {
      return refusalOf(line, error)
    }
  }

  async #write({ record, ...row }: AskedRow, result: AskedRecord): Promise<void> {
    const whole = await printNext(this.#out.row(record, result))
    this.#written++
    if ('refused' in result && this.#refused++ < toldRefusals) {
      const { line, unit = 'line' } = placeIn(row)
      printError(`refused: ${unit} ${line}: ${oneLine(result.refused)}\n`)
    }
    // Nobody reads any more, as behind `head`.
    if (whole) return
    this.#stopping = true
    this.#drop.abort()
  }

  #tell(): void {
    const refused = this.#refused === 0 ? '' : `, ${showCount(this.#refused)} of them refused`
    const rows = `${showCount(this.#written)} of ${showCount(this.#total)} rows written${refused}`
    const { resume } = this.#options
    const early =
      resume === undefined
        ? 'With --resume <file>, an interrupted run can be resumed.'
        : `What is answered is kept in ${resume}. The same command continues from there.`
    printError(this.#written === this.#total ? `${rows}\n` : `Ended early: ${rows}. ${early}\n`)
  }
}

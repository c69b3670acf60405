/**
 * A file for each crash of a runner, to find its cause.
 *
 * Rules
 *   1. Sizes and ids, never texts: requests are private to their callers.
 *   2. A failed write does no harm, and the event loop never waits for the disk.
 *   3. The newest {@link keptReports} are kept.
 *
 * @module
 */

import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InTurn } from '../in-turn.js'
import { makeFolder } from '../make-folder.js'
import type { RunnerEnd } from './runner-process.js'
import type { InsideCall } from './supervision.js'

export const keptReports = 20
const mostInside = 256
const reportName = /^\d{4}-\d\d-\d\dT[\d-]+Z-.*\.json$/

export interface Crash {
  /** The model's name. */
  readonly model: string
  readonly end: RunnerEnd
  /** The unanswered calls. */
  readonly inside: readonly InsideCall[]
}

export class CrashReports {
  readonly #folder: string
  readonly #turns = new InTurn()

  /** @param folder - Created with the first report. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** @returns The path of its file. @throws The file system's error. */
  write(crash: Crash): Promise<string> {
    // The state of now, and not of when the queued write runs.
    const time = new Date().toISOString()
    const text = `${JSON.stringify({ time, ...reportOf(crash) }, null, 2)}\n`
    const name = fileName(time, crash)
    return this.#turns.run(() => this.#write(name, text))
  }

  async #write(name: string, text: string): Promise<string> {
    makeFolder(this.#folder)
    const path = join(this.#folder, name)
    await writeFile(path, text, { mode: 0o600 })
    const names = (await readdir(this.#folder)).filter((each) => reportName.test(each)).sort()
    for (const old of names.slice(0, -keptReports)) await rm(join(this.#folder, old))
    return path
  }
}

/** Names sort by time; a model's name may have any character. */
function fileName(time: string, { model, end }: Crash): string {
  const called = model.replaceAll(/[^\w.-]+/g, '_').slice(0, 64)
  return `${time.replaceAll(/[:.]/g, '-')}-${called}-${end.pid ?? 0}.json`
}

function reportOf({ model, end, inside }: Crash) {
  const { pid, cause, livedMs, lastWords, stats } = end
  const scored = inside.filter(({ kind }) => kind === 'score')
  return {
    model,
    pid,
    cause,
    livedMs: Math.round(livedMs),
    lastWords: lastWords.split('\n').filter((line) => line !== ''),
    /** The last step's sequences are some of these: one for each question. */
    step: {
      requests: scored.length,
      questions: scored.reduce((sum, { questions }) => sum + questions, 0),
      textLength: scored.reduce((sum, { textLength }) => sum + textLength, 0),
      /** From the last report, up to a tenth of a second before the end. */
      queuedTokens: stats.queuedTokens,
    },
    stats,
    insideCount: inside.length,
    inside: inside
      .slice(0, mostInside)
      .map(({ kind, requestId, textLength, questions, workspace, ends }) => {
        return { kind, requestId, textLength, questions, workspace, ends: ends + 1 }
      }),
  }
}

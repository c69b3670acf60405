/**
 * The file of a resumable run: the measurements, one row per line.
 *
 * Rules
 *   1. The first line identifies the run: data, models and options. A different run is refused.
 *   2. A row is written in one piece when it is finished. A last line without its end was being
 *      written when the process was killed, and is cut off.
 *   3. Each run begins with such a line; `atMs` of its rows counts from there.
 *
 * @module
 */

import { closeSync, constants, ftruncateSync, fstatSync, openSync, readSync } from 'node:fs'
import { isJsonObject, type Json } from '../api/json.js'
import { OiError } from '../errors.js'
import { kindOf, piecesOf } from '../open-input.js'
import { linesOf, longestLine } from './rows/lines.js'
import { writeText } from './rows/rows-file.js'
import { LineSet } from './line-set.js'
import type { RowRecord } from './measure.js'

/** The facts that must be equal for results to be comparable. */
export interface RunIdentity {
  /** Digest of the labelled file. */
  readonly data: string
  /** The facts that the models' answers depend on. */
  readonly models: Json
  readonly flips: boolean
  /** Names of catch-all options. */
  readonly others: readonly string[]
}

/** What a command keeps. */
export interface JournalKind {
  /** Its name and version, which the first line has. */
  readonly format: string
  readonly command: string
  /** Each fact of its identity, and the meaning of a difference, for messages. */
  readonly meanings: Readonly<Record<string, string>>
  /** Names of which a record has at least one. */
  readonly members: readonly string[]
}

/** Differences that mean the same to every command. */
export const commonMeanings = {
  data: 'it was made with another labelled file',
  models: 'it was made with another model, or with other settings',
}

const evaluations: JournalKind = {
  format: 'oi-eval@2',
  command: 'oi eval',
  meanings: {
    ...commonMeanings,
    flips: 'one of the two runs has --flips, and the other has not',
    others: 'it was made with other names in --other',
  } satisfies Record<keyof RunIdentity, string>,
  members: ['outcomes', 'refused'],
}

type Entry = { readonly line: number; readonly atMs: number }

export class Journal<Result extends { readonly line: number } = RowRecord> {
  readonly #file: number
  readonly #done: LineSet
  readonly #earlierMs: number
  readonly #startMs = performance.now()
  /** The bytes of earlier runs. */
  readonly #earlierBytes: number

  private constructor(file: number, done: LineSet, earlierMs: number) {
    this.#file = file
    this.#done = done
    this.#earlierMs = earlierMs
    this.#earlierBytes = fstatSync(file).size
  }

  /**
   * Opens a file, or creates it.
   *
   * @param onRecord - Called with each row of earlier runs.
   * @param kind - Default: that of `oi eval`, whose identity is a {@link RunIdentity}.
   * @throws {@link OiError} `ERR_CONFIG` if it is not such a file, belongs to a different run, is
   *   damaged, or cannot be written.
   */
  static async open<Result extends { readonly line: number } = RowRecord>(
    path: string,
    identity: object,
    onRecord: (record: Result) => void,
    kind: JournalKind = evaluations,
  ): Promise<Journal<Result>> {
    const file = openFile(path)
    const from: Source = { path, file, kind, flag: '--resume' }
    try {
      // First: a wrong file named by mistake must stay unchanged.
      await requireHead(from)
      cutUnfinished(file)
      const done = new LineSet()
      const same = (head: Fields) => requireSame(path, head, identity, kind)
      const earlierMs = await replay<Result>(from, same, (record) => {
        // Two processes may have written to the file at the same time.
        if (done.add(record.line)) onRecord(record)
      })
      const journal = new Journal<Result>(file, done, earlierMs)
      journal.#write({ format: kind.format, ...identity })
      return journal
    } catch (error) {
      closeSync(file)
      throw error
    }
  }

  /** Whether the row of this line is in the file. */
  has(line: number): boolean {
    return this.#done.has(line)
  }

  /** The rows of earlier runs once more. */
  async *earlier(): AsyncGenerator<Result, void, undefined> {
    for await (const { text } of linesOf(piecesOf(this.#file, this.#earlierBytes))) {
      const { atMs: _, ...entry } = JSON.parse(text) as Entry & { readonly format?: string }
      if (entry.format === undefined) yield entry as unknown as Result
    }
  }

  append(record: Result): void {
    this.#done.add(record.line)
    this.#write({ ...record, atMs: Math.round(performance.now() - this.#startMs) })
  }

  /** Total time of all runs, milliseconds. */
  get elapsedMs(): number {
    return this.#earlierMs + performance.now() - this.#startMs
  }

  close(): void {
    closeSync(this.#file)
  }

  #write(line: object): void {
    // Unbuffered: a killed process loses only the row that it is writing.
    writeText(this.#file, `${JSON.stringify(line)}\n`, '--resume')
  }
}

/**
 * Reads a run that another command has kept, over the same data.
 *
 * @param data - Digest of the labelled file.
 * @param onRecord - Called with each of its rows.
 * @returns Its models, as in {@link RunIdentity}.
 * @throws {@link OiError} `ERR_CONFIG` as {@link Journal.open}.
 */
export async function readOtherRun(
  path: string,
  data: string,
  onRecord: (record: RowRecord) => void,
): Promise<Json> {
  const flag = '--against'
  const file = openFile(path, constants.O_RDONLY | constants.O_NONBLOCK, flag)
  const from: Source = { path, file, kind: evaluations, flag }
  try {
    await requireHead(from)
    let models: Json = null
    const same = (head: Fields) => {
      if (head['data'] !== data) throw refusal(path, commonMeanings.data, flag)
      models = head['models'] as Json
    }
    await replay(from, same, onRecord, true)
    return models
  } finally {
    closeSync(file)
  }
}

/**
 * @param mode - As of `fs.open`, but such that a FIFO opens without its other end: for reading, too,
 *   or without waiting.
 * @param flag - The option that names the file.
 */
function openFile(path: string, mode: string | number = 'a+', flag = '--resume'): number {
  let file: number
  try {
    file = openSync(path, mode)
  } catch (cause) {
    throw new OiError('ERR_CONFIG', `${flag}: ${(cause as Error).message}`, { cause })
  }
  const kind = kindOf(fstatSync(file))
  if (kind === undefined) return file
  closeSync(file)
  throw refusal(path, `it is ${kind}`, flag)
}

const linesIn = (file: number) => linesOf(piecesOf(file, fstatSync(file).size))

/** A file that is read, and the option that names it. */
interface Source {
  readonly path: string
  readonly file: number
  readonly kind: JournalKind
  readonly flag: string
}

/** An empty file is a new one. @throws {@link OiError} Unless it begins with a head. */
async function requireHead({ path, file, kind, flag }: Source): Promise<void> {
  let isOurs = true
  try {
    for await (const { text, ended } of linesIn(file)) {
      isOurs = ended && parse(text)?.['format'] === kind.format
      break
    }
  } catch {
    isOurs = false
  }
  if (!isOurs) throw refusal(path, `this is not a file of ${kind.command}; name a new file`, flag)
}

/** @param goesOn - Whether its run may go on meanwhile. @returns The time of earlier runs, milliseconds. */
async function replay<Result>(
  { path, file, kind, flag }: Source,
  requireHeadOf: (head: Fields) => void,
  onRecord: (record: Result) => void,
  goesOn = false,
): Promise<number> {
  let earlierMs = 0
  let lastMs = 0
  for await (const { number, text, ended } of linesIn(file)) {
    const entry = parse(text)
    if (entry?.['format'] !== undefined) {
      requireHeadOf(entry)
      earlierMs += lastMs
      lastMs = 0
    } else if (isEntry(entry, kind)) {
      const { atMs, ...record } = entry
      lastMs = Math.max(lastMs, atMs)
      onRecord(record as unknown as Result)
    } else {
      if (!ended && goesOn) break
      throw refusal(path, `line ${number} is damaged`, flag)
    }
  }
  return earlierMs + lastMs
}

function requireSame(
  path: string,
  head: Fields,
  identity: object,
  { meanings }: JournalKind,
): void {
  for (const [key, meaning] of Object.entries(meanings)) {
    if (JSON.stringify(head[key]) === JSON.stringify((identity as Fields)[key])) continue
    throw refusal(path, `${meaning}; name a new file`, '--resume')
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Text that this module wrote, or undefined. */
function parse(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isEntry(value: Fields | undefined, { members }: JournalKind): value is Fields & Entry {
  if (!Number.isInteger(value?.['line']) || typeof value?.['atMs'] !== 'number') return false
  return members.some((name) => value[name] !== undefined)
}

/** Rule 2. */
function cutUnfinished(file: number): void {
  const { size } = fstatSync(file)
  const piece = Buffer.alloc(64 * 2 ** 10)
  for (let end = size; end > Math.max(0, size - longestLine);) {
    const start = Math.max(0, end - piece.length)
    const read = readSync(file, piece, 0, end - start, start)
    const last = piece.subarray(0, read).lastIndexOf(10)
    if (last !== -1) {
      if (start + last + 1 < size) ftruncateSync(file, start + last + 1)
      return
    }
    end = start
  }
}

function refusal(path: string, reason: string, flag: string): OiError {
  return new OiError('ERR_CONFIG', `${flag} ${path}: ${reason}`)
}

/**
 * A spool: bookings that could not be written, in a file elsewhere, which the writer takes in once
 * it can write again (spool-intake.ts), or the next start on the same data folder.
 *
 * The file is complete or absent: it is renamed after it has been forced to the disk. Taking it in
 * and noting its id is one transaction, so a crash before the file is removed books nothing twice.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import { counted } from '../../api/words.js'
import { OiError } from '../../errors.js'
import { type Booking, mergeInto, reversed, type Sum } from './booking.js'
import { lazyOf, type Sent } from './pending.js'
import { retryKeyWriter } from './retry-key-writer.js'
import { allSpools, isOurs, nameOf, partly, spoolFolders, type SpoolPlace } from './spool-files.js'
import { isRefusedValue } from '../store/store-errors.js'
import {
  type Booked,
  type BookingWriter,
  bookingWriter,
  newWriter,
  noneAside,
  writtenBy,
} from './write-bookings.js'

/** A batch that may or may not be in the file. */
interface Uncertain {
  readonly writer: number
  /** The number of its first booking. */
  readonly first: number
  /** How many of its bookings are owed in any case: the first bookings of the spool. */
  readonly count: number
  /** Its first bookings, whose callers were refused: if they are in the file, they are taken back. */
  readonly refused: readonly Booking[]
}

export function uncertainOf(writer: number, sent: Sent): Uncertain {
  const count = lazyOf(sent).length
  const refused = sent.bookings.slice(0, sent.bookings.length - count)
  return { writer, first: sent.first, count, refused }
}

interface Header {
  readonly oi: 'accounts'
  readonly id: string
  /** The owner of a {@link SpoolPlace}. */
  readonly dataDir: string
  readonly uncertain?: Uncertain | undefined
}

/**
 * Writes the owed bookings to the first folder that accepts them, and tells the operator where.
 *
 * @param uncertain - Its owed bookings are the first of these.
 * @throws {@link OiError} `ERR_ACCOUNTS` if no folder accepts them: their sums are then only in the
 *   log.
 */
export function keepForNextStart(
  place: SpoolPlace,
  owed: readonly Booking[],
  log: (text: string) => void,
  uncertain?: Uncertain,
): void {
  if (owed.length === 0 && !uncertain?.refused.length) return
  const count = answersOf(owed)
  const id = randomUUID()
  const path = writeFirst(place, nameOf(id), textOf(place, id, owed, uncertain))
  if (path !== undefined) {
    log(leftBehind(count, path))
    return
  }
  const sums = new Map<string, Sum>()
  for (const booking of owed) mergeInto(sums, booking)
  for (const sum of sums.values()) log(`Usage that could not be written: ${JSON.stringify(sum)}`)
  throw new OiError('ERR_ACCOUNTS', `The usage of ${counted(count, 'answer')} could not be written`)
}

/**
 * Writes bookings to the first folder that accepts them, without blocking. Never rejects.
 *
 * @returns The spool's path; undefined if no folder accepts it.
 */
export async function spill(
  place: SpoolPlace,
  id: string,
  bookings: readonly Booking[],
): Promise<string | undefined> {
  const text = textOf(place, id, bookings)
  for (const folder of spoolFolders(place)) {
    const path = join(folder, nameOf(id))
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(`${path}${partly}`, text, { flag: 'wx', mode: 0o600, flush: true })
      await rename(`${path}${partly}`, path)
      return path
    } catch {
      await rm(`${path}${partly}`, { force: true }).catch(() => {})
    }
  }
  return undefined
}

/**
 * As {@link spill}, but blocks; for what that may not have written whole. It has another name, and
 * the same id: it is taken in once.
 */
export function spillNow(
  place: SpoolPlace,
  id: string,
  bookings: readonly Booking[],
): string | undefined {
  return writeFirst(place, nameOf(`${id}-again`), textOf(place, id, bookings))
}

/** What the operator is told of a spool that is left at the end. */
export const leftBehind = (answers: number, path: string) =>
  `The usage of ${counted(answers, 'answer')} could not be written. The next start takes it in: ${path}`

/** The spools of these accounts. Never throws. */
export function findSpools(place: SpoolPlace): string[] {
  return allSpools(place).filter((path) => isFor(path, place.owner))
}

/** Whether a spool belongs to these accounts; a damaged one may belong to any. */
function isFor(path: string, owner: string): boolean {
  try {
    if (!isOurs(path)) return false
    const [line = ''] = readFileSync(path, 'utf8').split('\n', 1)
    return (JSON.parse(line) as Header).dataDir === owner
  } catch {
    return false
  }
}

/** The result of taking in a spool. */
export interface TakenIn extends Booked {
  /** The number of its answers. */
  readonly answers: number
}

/** What a spool's bookings are worth, one each if they are damaged. */
export const answersOf = (bookings: readonly Booking[]): number =>
  bookings.reduce((sum, { requests }) => sum + (requests || 0), 0)

/**
 * What is to be booked of a spool.
 *
 * @param isKnown - Whether the batch whose outcome was uncertain is in the accounts.
 * @param unmade - The indexes of its refused bookings that were not made.
 */
export function owedOf(
  { header: { uncertain }, bookings }: Spool,
  isKnown: boolean,
  unmade: ReadonlySet<number>,
): readonly Booking[] {
  if (uncertain === undefined || !isKnown) return bookings
  const refused = uncertain.refused.filter((_, i) => !unmade.has(i))
  return [...bookings.slice(uncertain.count), ...refused.map(reversed)]
}

/**
 * Books the contents of a spool in SQLite's file, unless that has been done.
 *
 * @throws If the spool cannot be read or the accounts cannot be written.
 */
export function takeIn(db: Sqlite.Database, path: string): TakenIn {
  const spool = readSpool(path)
  const { header } = spool
  const writer = bookingWriter(db)
  const take = (write: BookingWriter) =>
    db
      .transaction((): TakenIn => {
        const nothing = { answers: 0, ...noneAside }
        const note = db.prepare('INSERT INTO spools VALUES (?, ?) ON CONFLICT DO NOTHING')
        if (note.run(header.id, Date.now()).changes === 0) return nothing
        const { uncertain } = header
        const isKnown =
          uncertain !== undefined && (writtenBy(db, uncertain.writer) ?? 0) >= uncertain.first
        const { keptOf } = retryKeyWriter(db)
        const refused = isKnown ? uncertain.refused : []
        const unmade = refused.flatMap((booking, i) =>
          keptOf(booking, uncertain!.writer, uncertain!.first + i) === undefined ? [] : [i],
        )
        const owed = owedOf(spool, isKnown, new Set(unmade))
        if (owed.length === 0) return nothing
        return { answers: answersOf(owed), ...write(owed, newWriter(db), 1, 0) }
      })
      .immediate()
  try {
    return take(writer.write)
  } catch (error) {
    if (!isRefusedValue(error)) throw error
    return take(writer.writeCarefully)
  }
}

function textOf(
  { owner: dataDir }: SpoolPlace,
  id: string,
  bookings: readonly Booking[],
  uncertain?: Uncertain,
): string {
  const header: Header = { oi: 'accounts', id, dataDir, uncertain }
  return [header, ...bookings].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** @returns The path in the first folder that accepts it, or undefined. */
function writeFirst(place: SpoolPlace, name: string, text: string): string | undefined {
  for (const folder of spoolFolders(place)) {
    const path = join(folder, name)
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeWhole(path, text)
      return path
    } catch {
      // Full, read-only, another user's: try the next folder.
    }
  }
  return undefined
}

interface Spool {
  readonly header: Header
  readonly bookings: readonly Booking[]
}

/** @throws If it cannot be read. */
export function readSpool(path: string): Spool {
  const [header, ...bookings] = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
  return { header: header as Header, bookings: bookings as Booking[] }
}

function writeWhole(path: string, text: string): void {
  const part = `${path}${partly}`
  try {
    writeFileSync(part, text, { flag: 'wx', mode: 0o600, flush: true })
    renameSync(part, path)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}

/** Without links; as it is while it is not there. */
export function realFolder(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

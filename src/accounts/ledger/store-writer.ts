/**
 * The only writer of the accounts in `oi serve` while requests run. It waits for locks and disks,
 * so it has a thread of its own (writer-thread.ts).
 *
 * Rules
 *   1. Nothing is thrown: every request gets a reply with its outcome.
 *   2. A group is committed only if it has not been withdrawn; one atomic exchange (shared.ts)
 *      before the commit decides.
 *   3. A WAL over its usual size never exceeds the disk's free space: while a reader takes long it
 *      only grows, and a WAL that has filled the disk could never be folded into the file again.
 *   4. When a commit fails, the writer's row in the file shows its outcome. While that row cannot
 *      be read, the outcome is unknown, and the sender asks again.
 *
 * @module
 */

import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type Sqlite from 'better-sqlite3'
import { unpack } from './booking.js'
import { accountsPath, connect, walBytesKept } from '../store/database.js'
import { forgetRetryKeys, retryKeyWriter } from './retry-key-writer.js'
import type { Shared } from './shared.js'
import { realFolder, takeIn } from './spool.js'
import { SpoolIntake } from './spool-intake.js'
import { isSqliteError } from '../store/sqlite.js'
import { isBusy, isRefusedValue, reasonOf } from '../store/store-errors.js'
import { type Noted, StoreFile } from '../store/store-file.js'
import { type Booked, bookingWriter, newWriter, writtenBy } from './write-bookings.js'
import type { WriteReply, WriteRequest } from './write-request.js'

/** How long a try waits for another process' write, milliseconds. */
const busyMs = 250
/** How often the file is checked for existence and size. */
const lookMs = 50
const forgetMs = 60_000

/** No write has been tried. */
class NoRoom extends Error {
  constructor() {
    super(
      'a read transaction has been open for long, or the disk is nearly full: ' +
        'there is no room to fold the log (accounts.db-wal) into the file',
    )
  }
}

export class StoreWriter {
  readonly #file: StoreFile
  readonly #shared: Shared
  #db: Sqlite.Database | undefined
  #statements: ReturnType<typeof prepare> | undefined
  #lookedAtMs = -Infinity
  #forgotAtMs = -Infinity
  #sizes = { fileBytes: 0, walBytes: 0 }
  readonly #spools: SpoolIntake

  /** Does not open the file yet. @param noted - The file that this process has opened already. */
  constructor(dataDir: string, shared: Shared, noted?: Noted) {
    this.#file = new StoreFile(accountsPath(dataDir), noted)
    this.#shared = shared
    this.#spools = new SpoolIntake({ owner: realFolder(dataDir) })
  }

  handle(request: WriteRequest): WriteReply {
    let committing = false
    let moved = false
    this.#spools.add(request.spools)
    try {
      moved = this.#open()
      const db = this.#db!
      this.#takeInSpools(db)
      const writer = this.#shared.writer
      if (request.askOnly) {
        const committed = this.#isWritten(request)
        return this.#reply(committed ? 'committed' : 'failed', { moved }, request)
      }
      this.#requireRoom()
      const { commit } = this.#statements!
      const booked = this.#write(request, writer)
      this.#noteUsed(request.used)
      if (!this.#shared.beginCommit()) {
        db.exec('ROLLBACK')
        return this.#reply('withdrawn', { moved })
      }
      committing = true
      commit.run()
      this.#spools.noteAside(booked)
      return this.#reply('committed', { moved }, request)
    } catch (error) {
      const failure = { reason: reasonOf(error), busy: isBusy(error) || error instanceof NoRoom }
      const outcome = committing || request.askOnly ? this.#find(request) : 'failed'
      moved ||= !this.#file.same
      const reply = this.#reply(outcome, { failure, moved }, request)
      this.#rollBack()
      // Cached pages of a file that failed cannot be trusted.
      if (!failure.busy) this.#disconnect()
      return reply
    }
  }

  /** Writes the group, and leaves the transaction open. */
  #write({ bookings: packed, first }: WriteRequest, writer: number): Booked {
    const { begin, written, write, writeCarefully } = this.#statements!
    const bookings = unpack(packed)
    begin.run()
    const before = written.get(writer) ?? 0
    try {
      return write(bookings, writer, first, before)
    } catch (error) {
      if (!isRefusedValue(error)) throw error
      this.#db!.exec('ROLLBACK')
      begin.run()
      return writeCarefully(bookings, writer, first, written.get(writer) ?? 0)
    }
  }

  /** A failure of the accounts ends it until the next request. */
  #takeInSpools(db: Sqlite.Database): void {
    for (const path of this.#spools.next()) {
      try {
        this.#spools.took(path, takeIn(db, path))
      } catch (error) {
        if (isSqliteError(error) && !isRefusedValue(error)) break
        this.#spools.couldNot(path, error)
      }
    }
    this.#spools.tell()
  }

  /** Deletes keys that count no longer, now and then. */
  #forget(): void {
    const now = performance.now()
    if (this.#db === undefined || now - this.#forgotAtMs < forgetMs) return
    this.#forgotAtMs = now
    this.#db.pragma('busy_timeout = 0')
    forgetRetryKeys(this.#db)
  }

  /** Checkpoints the WAL and cuts it, if it has grown and no reader blocks that. */
  tend(): void {
    try {
      this.#forget()
      if (this.#db === undefined || sizeOf(`${this.#file.path}-wal`) <= walBytesKept) return
      this.#db.pragma('busy_timeout = 0')
      this.#db.pragma('wal_checkpoint(TRUNCATE)')
    } catch {
      // A reader, a writer or the disk prevents it: the next time.
    } finally {
      if (this.#db?.open) this.#db.pragma(`busy_timeout = ${busyMs}`)
    }
  }

  /** Never throws. */
  close(): void {
    this.#disconnect()
  }

  /** @returns Whether the path leads to another file than before. */
  #open(): boolean {
    const now = performance.now()
    if (this.#db !== undefined && now - this.#lookedAtMs < lookMs) return false
    this.#lookedAtMs = now
    this.#sizes = {
      fileBytes: sizeOf(this.#file.path),
      walBytes: sizeOf(`${this.#file.path}-wal`),
    }
    if (this.#db !== undefined && this.#file.same) return false
    this.#disconnect()
    const moved = this.#file.noted.file !== undefined && !this.#file.same
    this.#file.check()
    const db = connect(this.#file.path, busyMs)
    try {
      // A restored file has no row of this writer, or an older one.
      const known = !moved && this.#shared.writer > 0 && writtenBy(db, this.#shared.writer)
      if (known === false || known === undefined) this.#shared.writer = newWriter(db)
      this.#statements = prepare(db)
    } catch (error) {
      db.close()
      throw error
    }
    this.#db = db
    this.#file.note()
    return moved
  }

  /** @throws {@link NoRoom} Rule 3. */
  #requireRoom(): void {
    if (this.#sizes.walBytes <= walBytesKept || this.#hasRoom()) return
    this.tend()
    this.#sizes.walBytes = sizeOf(`${this.#file.path}-wal`)
    if (this.#sizes.walBytes > walBytesKept && !this.#hasRoom()) throw new NoRoom()
  }

  #hasRoom(): boolean {
    const { bavail, bsize } = statfsSync(dirname(this.#file.path))
    return bavail * bsize >= this.#sizes.walBytes
  }

  #disconnect(): void {
    try {
      this.#db?.close()
    } catch {
      // Nothing is lost: committed data are in the WAL.
    }
    this.#db = undefined
    this.#statements = undefined
  }

  #rollBack(): void {
    try {
      if (this.#db?.inTransaction) this.#db.exec('ROLLBACK')
    } catch {
      this.#disconnect()
    }
  }

  /** Finds the outcome of a group whose commit failed (rule 4). */
  #find(request: WriteRequest): WriteReply['outcome'] {
    try {
      this.#rollBack()
      this.#open()
      return this.#isWritten(request) ? 'committed' : 'failed'
    } catch {
      return 'unknown'
    }
  }

  #isWritten({ first, bookings }: WriteRequest): boolean {
    const written = writtenBy(this.#db!, this.#shared.writer) ?? 0
    return bookings.numbers.length > 0 && written >= first
  }

  /** By the keys in the file, which also tell it when the commit's own reply was lost. */
  #keptOf({ bookings, first }: WriteRequest): WriteReply['kept'] {
    if (bookings.retries.length === 0) return []
    return unpack(bookings).flatMap((booking, i) => {
      const why = this.#statements!.keptOf(booking, this.#shared.writer, first + i)
      return why === undefined ? [] : [[i, why] as const]
    })
  }

  #noteUsed(used: WriteRequest['used']): void {
    if (used.length === 0) return
    // Another process may have seen the key later than this one, but not in the future: such a time
    // was left by a clock that was wrong for a while.
    const now = Date.now()
    for (const [keyId, usedMs] of used) this.#statements!.use.run(now, usedMs, usedMs, keyId)
  }

  #reply(
    outcome: WriteReply['outcome'],
    { failure, moved }: Pick<WriteReply, 'failure' | 'moved'>,
    request?: WriteRequest,
  ): WriteReply {
    const kept = outcome === 'committed' && request !== undefined ? this.#keptOf(request) : []
    const news = this.#spools.takeNews()
    return { ...{ outcome, moved, kept }, ...news, ...(failure && { failure }), ...this.#sizes }
  }
}

/** The statements of every batch, for one connection. */
function prepare(db: Sqlite.Database) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    written: db.prepare<[number], number>('SELECT written FROM writers WHERE id = ?').pluck(),
    use: db.prepare<[number, number, number, number]>(
      `UPDATE keys SET used_ms = iif(used_ms > ?, ?, max(coalesce(used_ms, 0), ?)) WHERE id = ?`,
    ),
    ...bookingWriter(db),
    keptOf: retryKeyWriter(db).keptOf,
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0
  } catch {
    return 0
  }
}

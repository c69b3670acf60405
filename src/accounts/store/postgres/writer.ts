/**
 * The writer of a node's bookings in PostgreSQL: what store-writer.ts is for SQLite's file, in the
 * same thread and with the same requests.
 *
 * Rules, beside those of store-writer.ts
 *   1. A batch is one transaction of one statement (book.ts); a node with others' locks in its way
 *      tries again.
 *   2. Whenever a connection is new, the writer's row gets a later epoch: that waits for what an
 *      earlier connection has begun, refuses what is still on its way, and tells what is written.
 *      So an outcome is never guessed.
 *
 * @module
 */

import { type Booking, dayMs, unpack } from '../../ledger/booking.js'
import {
  forgettingSql,
  type Kept,
  mostRetryKeys,
  type Over,
  retryNowMs,
  rowsAtOnce,
} from '../../ledger/retry-key-writer.js'
import type { Shared } from '../../ledger/shared.js'
import { answersOf, owedOf, readSpool, type TakenIn } from '../../ledger/spool.js'
import { SpoolIntake } from '../../ledger/spool-intake.js'
import type { SpoolPlace } from '../../ledger/spool-files.js'
import { hourDays, noneAside } from '../../ledger/write-bookings.js'
import type { WriteReply, WriteRequest } from '../../ledger/write-request.js'
import { book } from './book.js'
import { PostgresClient, type Session } from './client.js'
import { failureOf, isBrief, PostgresError } from './failure.js'
import { toPostgres } from './sql.js'

/** How long a statement of a batch may take, milliseconds. */
const statementMs = 5000
/** How long asking for the outcome may take. */
const askingMs = 1000
const forgetMs = 60_000

export class PostgresWriter {
  readonly #client: PostgresClient
  readonly #shared: Shared
  readonly #spools: SpoolIntake
  #epoch = 0
  readonly #url: string
  #forgotAtMs = -Infinity

  constructor(url: string, shared: Shared, place: SpoolPlace) {
    this.#url = url
    this.#shared = shared
    this.#spools = new SpoolIntake(place)
    this.#client = new PostgresClient({
      ...{ url, statementMs },
      onConnected: (session) => this.#takeOver(session),
    })
  }

  /** Rule 2. */
  async #takeOver(session: Session): Promise<void> {
    const row = await takeOver(session, this.#shared.writer)
    if (row === undefined) this.#shared.writer = await newWriter(session)
    this.#epoch = row?.epoch ?? 0
  }

  async handle(request: WriteRequest): Promise<WriteReply> {
    let committing = false
    this.#spools.add(request.spools)
    try {
      const session = await this.#client.session()
      await this.#takeInSpools(session)
      const bookings = unpack(request.bookings)
      if (request.askOnly) {
        const outcome = (await this.#isWritten(request)) ? 'committed' : 'failed'
        return await this.#reply(outcome, request, bookings)
      }
      const at = [this.#shared.writer, this.#epoch, request.first] as const
      await session.query('BEGIN')
      const booked = await book(session, bookings, at, retryNowMs())
      await noteUsed(session, request.used)
      if (!this.#shared.beginCommit()) {
        await session.query('ROLLBACK')
        return await this.#reply('withdrawn')
      }
      committing = true
      await session.query('COMMIT')
      this.#spools.noteAside(booked)
      return await this.#reply('committed', request, bookings)
    } catch (error) {
      const failure = error instanceof PostgresError ? error : failureOf(error)
      // Whatever has been begun ends with the connection.
      this.#client.drop()
      const outcome = committing || request.askOnly ? await this.#find(request) : 'failed'
      const bookings = outcome === 'committed' ? unpack(request.bookings) : []
      return this.#reply(outcome, request, bookings, {
        ...{ reason: failure.message, busy: isBrief(failure) },
      }).catch(() => this.#reply('unknown'))
    }
  }

  /** Deletes what counts no longer, now and then, beside the bookings. Never rejects. */
  async tend(): Promise<void> {
    const now = performance.now()
    if (!this.#client.connected || now - this.#forgotAtMs < forgetMs) return
    this.#forgotAtMs = now
    const client = new PostgresClient({ url: this.#url, statementMs })
    try {
      await forget(client)
    } catch {
      // The next time.
    } finally {
      client.drop()
    }
  }

  close(): void {
    this.#client.drop()
  }

  async #takeInSpools(session: Session): Promise<void> {
    for (const path of this.#spools.next()) {
      try {
        this.#spools.took(path, await this.#takeIn(session, path))
      } catch (error) {
        // PostgreSQL's own failure ends the batch, too.
        if (error instanceof PostgresError) throw error
        this.#spools.couldNot(path, error)
      }
    }
    this.#spools.tell()
  }

  async #takeIn(session: Session, path: string): Promise<TakenIn> {
    const spool = readSpool(path)
    const { uncertain, id } = spool.header
    await session.query('BEGIN')
    const noted = await session.query(
      'INSERT INTO spools VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
      [id, Date.now()],
    )
    let owed: readonly Booking[] = []
    if (noted.count > 0) {
      const written = uncertain && (await takeOver(session, uncertain.writer))?.written
      const isKnown = uncertain !== undefined && (written ?? 0) >= uncertain.first
      const kept = isKnown
        ? await this.#keptOf(uncertain.refused, uncertain.writer, uncertain.first)
        : []
      owed = owedOf(spool, isKnown, new Set(kept.map(([i]) => i)))
    }
    let booked = noneAside
    if (owed.length > 0) {
      const writer = await newWriter(session)
      booked = await book(session, owed, [writer, 0, 1], retryNowMs())
    }
    await session.query('COMMIT')
    return { answers: answersOf(owed), ...booked }
  }

  async #isWritten({ first, bookings }: WriteRequest): Promise<boolean> {
    const { rows } = await this.#client.query(
      'SELECT written FROM writers WHERE id = $1',
      [this.#shared.writer],
      askingMs,
    )
    const { written } = (rows[0] ?? { written: 0 }) as { written: number }
    return bookings.numbers.length > 0 && written >= first
  }

  /** Finds the outcome of a batch whose commit failed (rule 2). */
  async #find(request: WriteRequest): Promise<WriteReply['outcome']> {
    try {
      return (await this.#isWritten(request)) ? 'committed' : 'failed'
    } catch {
      return 'unknown'
    }
  }

  /** Bookings that were not made for their keys, by their index. */
  async #keptOf(
    bookings: readonly Booking[],
    writer: number,
    first: number,
  ): Promise<readonly (readonly [number, Kept])[]> {
    const kept: (readonly [number, Kept])[] = []
    for (const [i, { workspaceId, retry }] of bookings.entries()) {
      if (retry === undefined) continue
      const { rows } = await this.#client.query(
        `SELECT request, writer, number FROM retry_keys
         WHERE workspace_id = $1 AND key = $2 AND item = $3`,
        [workspaceId, retry.key, retry.item],
      )
      const row = rows[0] as { request: string; writer: number; number: number } | undefined
      if (row === undefined || (row.writer === writer && row.number === first + i)) continue
      kept.push([i, row.request === retry.request ? 'repeated' : 'reused'])
    }
    return kept
  }

  async #reply(
    outcome: WriteReply['outcome'],
    request?: WriteRequest,
    bookings: readonly Booking[] = [],
    failure?: WriteReply['failure'],
  ): Promise<WriteReply> {
    const kept =
      outcome === 'committed' && request !== undefined && request.bookings.retries.length > 0
        ? await this.#keptOf(bookings, this.#shared.writer, request.first)
        : []
    return {
      ...{ outcome, moved: false, fileBytes: 0, walBytes: 0, kept },
      ...this.#spools.takeNews(),
      ...(failure && { failure }),
    }
  }
}

/** As `forgetRetryKeys` of SQLite's file; and usage by the hour that is old. */
async function forget(client: PostgresClient): Promise<void> {
  const oldHour = Math.floor(Date.now() / dayMs - hourDays) * 24
  await client.query('DELETE FROM hour_usage WHERE hour < $1', [oldHour])
  const ask = (sql: string, value: number) => client.query(toPostgres(sql), [value])
  const { someExpired, tooMany, someOldest } = forgettingSql
  while ((await ask(someExpired, retryNowMs())).count === rowsAtOnce);
  for (const { id, count } of (await ask(tooMany, mostRetryKeys)).rows as Over[]) {
    for (let left = count - mostRetryKeys; left > 0; left -= rowsAtOnce) await ask(someOldest, id)
  }
}

/** Rule 2. @returns Undefined: there is no such writer. */
async function takeOver(session: Session, writer: number) {
  const { rows } = await session.query(
    'UPDATE writers SET epoch = epoch + 1 WHERE id = $1 RETURNING epoch, written',
    [writer],
    askingMs,
  )
  return rows[0] as { readonly epoch: number; readonly written: number } | undefined
}

async function newWriter(session: Session): Promise<number> {
  const { rows } = await session.query('INSERT INTO writers (opened_ms) VALUES ($1) RETURNING id', [
    Date.now(),
  ])
  return (rows[0] as { id: number }).id
}

async function noteUsed(session: Session, used: WriteRequest['used']): Promise<void> {
  if (used.length === 0) return
  // As in store-writer.ts: a later time of another node counts, but not one in the future.
  await session.query(
    `WITH locked AS (
       SELECT k.id, u.ms FROM keys k
       JOIN unnest($2::BIGINT[], $3::BIGINT[]) AS u (id, ms) ON u.id = k.id
       ORDER BY k.id FOR NO KEY UPDATE OF k)
     UPDATE keys SET used_ms = CASE WHEN used_ms > $1 THEN ms
       ELSE greatest(coalesce(used_ms, 0), ms) END
     FROM locked WHERE locked.id = keys.id`,
    [Date.now(), used.map(([keyId]) => keyId), used.map(([, usedMs]) => usedMs)],
  )
}

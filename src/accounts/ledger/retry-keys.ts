/**
 * Requests that are charged once, however often they are repeated: those with a key of the caller.
 *
 * Rules
 *   1. The file decides: a key is written in the transaction of its booking, under an index that
 *      has each key of a workspace once. So neither a crash between the two, nor another process or
 *      node, nor a spool charges twice.
 *   2. Memory knows the keys of requests under way, and of bookings that wait to be written: two
 *      requests at the same time are one here already.
 *   3. A refused request keeps no key: only a booking notes one.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import type { RetryKey } from './booking.js'
import { type Connection, selectAll } from '../store/connection.js'
import { retryNowMs } from './retry-key-writer.js'

/** Keys whose bookings wait for a file that cannot be written, at most; then the file decides. */
const mostWaiting = 100_000

/** A request with a key, until it ends. */
export interface Claim {
  /** Whether this item was booked before. */
  isBooked(item: number): boolean
  /**
   * Books an item, unless it has been.
   *
   * @param book - Makes the booking with this key. Its promise is that of `Ledger.book`.
   * @returns Whether it was booked now.
   */
  book(item: number, book: (retry: NewRetryKey) => Promise<boolean> | undefined): Booked
  /** The request has ended. Idempotent. */
  release(): void
}

export type NewRetryKey = Omit<RetryKey, 'answered'>
type Booked = Promise<boolean> | boolean

interface Entry {
  readonly request: string
  /** Items that are booked, or are being booked. */
  readonly booked: Map<number, Promise<boolean> | true>
  users: number
  /** Whether a booking may not be in the file yet, although its answer is sent; or is not read. */
  waiting: boolean
  /** Until when what is booked counts, milliseconds since 1970. */
  untilMs: number
}

export class RetryKeys {
  readonly #db: Connection
  /** By workspace and key, the oldest first. */
  readonly #entries = new Map<string, Entry>()
  #waiting = 0

  constructor(db: Connection) {
    this.#db = db
  }

  /** Whether something was booked for this key. */
  isKnown(workspaceId: number, key: string): boolean {
    const entry = this.#find(`${workspaceId} ${key}`)
    return (entry !== undefined && entry.booked.size > 0) || this.#read(workspaceId, key).length > 0
  }

  /**
   * @param key - A digest of the caller's key. @param request - A digest of the request.
   * @throws {@link OiError} `ERR_IDEMPOTENCY_KEY` if the key belongs to another request.
   */
  claim(workspaceId: number, key: string, request: string, forMs: number): Claim {
    const id = `${workspaceId} ${key}`
    let entry = this.#find(id)
    if (entry === undefined) {
      const rows = this.#read(workspaceId, key)
      const booked = new Map(rows.map(({ item }) => [item, true] as const))
      const first = rows[0]?.request ?? request
      entry = { request: first, booked, users: 0, waiting: false, untilMs: Infinity }
    }
    if (entry.request !== request) throw keyReused()
    this.#entries.set(id, entry)
    entry.users++
    const { booked } = entry
    let released = false
    return {
      isBooked: (item) => booked.has(item),
      book: (item, book) => {
        const before = booked.get(item)
        // If that one cannot be booked, neither is this one.
        if (before !== undefined) return before === true ? false : before.then(() => false)
        const untilMs = (entry.untilMs = retryNowMs() + forMs)
        const made = book({ key, item, request, untilMs })
        if (made === undefined) {
          booked.set(item, true)
          this.#keep(id, entry)
          return true
        }
        booked.set(item, made)
        void made.then(
          () => {
            booked.set(item, true)
            // Where reading takes a network's time, memory knows it.
            if (this.#db.remote) this.#keep(id, entry)
          },
          () => booked.delete(item),
        )
        return made
      },
      release: () => {
        if (released) return
        released = true
        entry.users--
        if (entry.users === 0 && !entry.waiting) this.#entries.delete(id)
      },
    }
  }

  /** An entry that still counts. */
  #find(id: string): Entry | undefined {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.users > 0 || entry.untilMs > retryNowMs()) return entry
    this.#entries.delete(id)
    if (entry.waiting) this.#waiting--
    return undefined
  }

  /** Keeps an entry whose booking cannot be read soon. */
  #keep(id: string, entry: Entry): void {
    if (entry.waiting) return
    entry.waiting = true
    if (!this.#entries.has(id)) this.#entries.set(id, entry)
    this.#waiting++
    if (this.#waiting <= mostWaiting) return
    for (const [other, old] of this.#entries) {
      if (!old.waiting || old.users > 0 || other === id) continue
      this.#entries.delete(other)
      this.#waiting--
      break
    }
  }

  /**
   * @returns None if the accounts cannot be read, or only as slowly as a network: they decide when the
   *   booking is written.
   */
  #read(workspaceId: number, key: string): readonly { item: number; request: string }[] {
    if (this.#db.remote) return []
    try {
      const sql = `SELECT item, request FROM retry_keys
        WHERE workspace_id = ? AND key = ? AND until_ms > ?`
      const now = retryNowMs()
      return selectAll<{ item: number; request: string }>(this.#db, sql, workspaceId, key, now)
    } catch {
      return []
    }
  }
}

export function keyReused(): OiError {
  return new OiError(
    'ERR_IDEMPOTENCY_KEY',
    'Idempotency-Key: another request was sent with this key; a new request needs a new one',
    { param: 'Idempotency-Key' },
  )
}

/**
 * The ledger's bookings: what was used, and the balances that follow from it.
 *
 * Rules
 *   1. Rows are only added. A workspace's balance is the sum of its rows' amounts, always: both
 *      change in one transaction. While it is unlimited (NULL), amounts are 0 and the sum is 0
 *      (credits.ts books away what is left when the limit is lifted).
 *   2. Nothing is booked twice. A row is known by its writer, a number that each process takes
 *      from the file, and the writer's own count. A group that is written again, because nobody
 *      knows what became of it, brings the same pairs, and those that are there are left out.
 *   3. A booking counts when its transaction has been committed (database.ts: what that survives).
 *      Bookings are committed in groups, so that they cost a request next to nothing. Whoever
 *      must not lose one waits for its group, which is written before the event loop takes up
 *      anything new; one for which nobody waits may stay in memory for some milliseconds. What
 *      cannot be written (the file is busy, the disk full) stays and is tried again.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import { OiError } from '../errors.js'

/** An answered request: tokens are whole numbers of 0 or more, the cost is in millionths. */
export interface Booking {
  readonly workspaceId: number
  readonly model: string
  /** When it was answered, milliseconds since 1970. */
  readonly timeMs: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly imageTokens: number
  readonly cachedTokens: number
  readonly cost: number
}

/** The bookings of one workspace and model on one day. */
interface Sum {
  readonly workspaceId: number
  /** Since 1970, UTC. */
  readonly day: number
  readonly model: string
  requests: number
  inputTokens: number
  outputTokens: number
  imageTokens: number
  cachedTokens: number
  cost: number
}

/** How long a booking for which nobody waits may stay in memory. */
const lazyMs = 5
/** After how long a group that could not be written is tried again: the try stops all requests. */
const retryMs = 250
/** How often at close, each time as long as the file may be busy. */
const lastTries = 5
/** So many wait only if the file cannot be written. */
const manyPending = 50_000
export const dayMs = 86_400_000

/** A number for rows of the ledger that no other writer has. */
export function newWriter(db: Sqlite.Database): number {
  const insert = db.prepare('INSERT INTO writers (opened_ms) VALUES (?)')
  return Number(insert.run(Date.now()).lastInsertRowid)
}

export class Ledger {
  readonly #db: Sqlite.Database
  readonly #write: (bookings: readonly Booking[], writer: number, first: number) => void
  #writer: number | undefined
  /** How many rows of this writer have been committed. */
  #written = 0
  #pending: Booking[] = []
  /** Of those who wait for the pending ones. */
  #committed: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined
  #timer: NodeJS.Timeout | undefined
  #immediate: NodeJS.Immediate | undefined
  #failing = false

  constructor(db: Sqlite.Database) {
    this.#db = db
    this.#write = prepareWrite(db)
  }

  /** True while so much waits to be written that nothing more should be let in. */
  get full(): boolean {
    return this.#pending.length >= manyPending
  }

  /**
   * Books an answered request. Never throws; does nothing once the file is closed.
   *
   * @param wait - Whether it must be in the file before anything is said about it.
   * @returns With `wait`, a promise that resolves once it has been committed, and never rejects.
   */
  book(booking: Booking, wait: boolean): Promise<void> | undefined {
    if (!this.#db.open) return undefined
    this.#pending.push(booking)
    if (!wait) {
      this.#timer ??= setTimeout(() => this.flush(), lazyMs)
      return undefined
    }
    if (!this.#failing) this.#immediate ??= setImmediate(() => this.flush())
    this.#committed ??= newPromise()
    return this.#committed.promise
  }

  /** What a workspace's bookings that are not written yet cost together. */
  pendingCost(workspaceId: number): number {
    let cost = 0
    for (const booking of this.#pending) {
      if (booking.workspaceId === workspaceId) cost += booking.cost
    }
    return cost
  }

  /** Writes what is pending now. @returns False if that was not possible: it is tried again. */
  flush(): boolean {
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
    this.#timer = undefined
    this.#immediate = undefined
    if (this.#pending.length === 0) return true
    try {
      // Committed before its first row, and kept: rule 2.
      this.#writer ??= newWriter(this.#db)
      this.#write(this.#pending, this.#writer, this.#written + 1)
    } catch {
      // Whatever it was, the bookings are still owed.
      this.#failing = true
      this.#timer = setTimeout(() => this.flush(), retryMs)
      return false
    }
    this.#failing = false
    this.#written += this.#pending.length
    this.#pending = []
    this.#committed?.resolve()
    this.#committed = undefined
    return true
  }

  /**
   * Writes what is pending, for the last time.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if it cannot be written: it is lost.
   */
  close(): void {
    for (let i = 0; i < lastTries; i++) if (this.flush()) return
    clearTimeout(this.#timer)
    const { length } = this.#pending
    throw new OiError('ERR_ACCOUNTS', `The usage of ${length} requests could not be written`)
  }
}

/** @returns Writes a group as rows of `writer`, the first of which has the number `first`. */
function prepareWrite(db: Sqlite.Database) {
  const balanceOf = db
    .prepare<[number], number | null>('SELECT balance FROM workspaces WHERE id = ?')
    .pluck()
  const insert = db.prepare(
    `INSERT INTO ledger (writer, number, kind, workspace_id, time_ms, model, input_tokens,
       output_tokens, image_tokens, cached_tokens, cost, amount)
     VALUES (?, ?, 'usage', ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const addUsage = db.prepare<[Sum]>(
    `INSERT INTO usage VALUES (@workspaceId, @day, @model, @requests, @inputTokens,
       @outputTokens, @imageTokens, @cachedTokens, @cost)
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
       input_tokens = input_tokens + excluded.input_tokens,
       output_tokens = output_tokens + excluded.output_tokens,
       image_tokens = image_tokens + excluded.image_tokens,
       cached_tokens = cached_tokens + excluded.cached_tokens,
       cost = cost + excluded.cost`,
  )
  // What is unlimited stays so: NULL less anything is NULL.
  const charge = db.prepare('UPDATE workspaces SET balance = balance - ? WHERE id = ?')

  // Immediate: the balances that are read are those that are changed.
  return db.transaction((bookings: readonly Booking[], writer: number, first: number) => {
    const limited = new Map<number, boolean>()
    const sums = new Map<string, Sum>()
    for (let i = 0; i < bookings.length; i++) {
      const booking = bookings[i]!
      const { workspaceId, cost } = booking
      let isLimited = limited.get(workspaceId)
      if (isLimited === undefined) {
        isLimited = balanceOf.get(workspaceId) !== null
        limited.set(workspaceId, isLimited)
      }
      const { changes } = insert.run(
        writer,
        first + i,
        workspaceId,
        booking.timeMs,
        booking.model,
        booking.inputTokens,
        booking.outputTokens,
        booking.imageTokens,
        booking.cachedTokens,
        cost,
        isLimited ? -cost : 0,
      )
      if (changes > 0) add(sums, booking)
    }
    for (const sum of sums.values()) {
      addUsage.run(sum)
      charge.run(sum.cost, sum.workspaceId)
    }
  }).immediate
}

function add(sums: Map<string, Sum>, booking: Booking): void {
  const { workspaceId, model, timeMs } = booking
  const day = Math.floor(timeMs / dayMs)
  const key = `${workspaceId} ${day} ${model}`
  let sum = sums.get(key)
  if (sum === undefined) {
    const none = { inputTokens: 0, outputTokens: 0, imageTokens: 0, cachedTokens: 0 }
    sum = { workspaceId, day, model, requests: 0, ...none, cost: 0 }
    sums.set(key, sum)
  }
  sum.requests++
  sum.inputTokens += booking.inputTokens
  sum.outputTokens += booking.outputTokens
  sum.imageTokens += booking.imageTokens
  sum.cachedTokens += booking.cachedTokens
  sum.cost += booking.cost
}

function newPromise() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}

/**
 * Bookings on their way into the file: collected here, and written by a thread of its own
 * (store-writer.ts). A caller that must not lose a booking waits for it.
 *
 * Rules
 *   1. Only `flush()` and `close()` wait or throw: the event loop goes on whatever the disk does.
 *   2. A booking with a waiter is written within a second, or it is withdrawn: the waiter is told,
 *      and it is never charged. If it turns out later that it was written after all, which nobody
 *      could know then, it is taken back.
 *   3. A booking without a waiter (no balance) stays until it is written. While writing fails, or
 *      the disk does not answer, such bookings go to a spool within a second, and so do those that
 *      are left at the end. If no folder takes one, they are kept, up to a bound, beyond which
 *      `full` is true.
 *   4. One batch is under way at a time, and bookings that arrive meanwhile form the next: batches
 *      grow with the load, so a booking costs almost nothing. Numbers are given when a batch is
 *      sent, so those in the file are always the first ones of its writer (write-bookings.ts, rule
 *      3).
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { type Booking, pack, reversed } from './booking.js'
import { type Batch, type KeptBookings, lazyOf, Pending } from './pending.js'
import { keyReused } from './retry-keys.js'
import { keepForNextStart, spill, spillNow, type Spilling, type Uncertain } from './spool.js'
import { SendTiming } from './send-timing.js'
import { patienceMs, StoreHealth } from './store-health.js'
import type { StoreFile } from './store-file.js'
import type { WriteReply } from './store-writer.js'
import { WriterLink } from './writer-link.js'

/** How long a booking without a waiter may stay in memory, milliseconds. */
const lazyMs = 20
/**
 * How long a booking may wait while the writer's thread starts: a busy machine is no failing store.
 */
const startingMs = 5000
/** How long to wait before a failed write is tried again. */
const retryMs = 250
/** How long uses of keys are collected. */
const usedMs = 1000
/** Answers that may wait to be written. */
const mostPending = 50_000
/** How long a booking without a waiter may wait for a failing writer, before it is spooled. */
const spillMs = 500
/** Spools whose contents are remembered. */
const mostSpooled = 1000
/** How long closing may take: the rest goes to a spool. */
const closingMs = 2000
/** The pause between tries during close(), when nothing else runs any more. */
const pauseMs = 20

/** A batch that was sent to be written. */
interface Sent extends Batch {
  readonly first: number
  readonly sinceMs: number
  /** Whether its outcome is unknown and must be found out first. */
  unknown: boolean
}

export interface LedgerOptions {
  readonly dataDir: string
  /** The file that this process has open. */
  readonly file: StoreFile
  /** Takes a sentence for the operator. */
  readonly log: (text: string) => void
  /** Called when the path leads to another file than before, or to none. */
  readonly onMoved?: () => void
}

export class Ledger {
  readonly health: StoreHealth
  readonly #options: LedgerOptions
  readonly #link: WriterLink
  readonly #pending = new Pending()
  #sent: Sent | undefined
  #usedSentMs = -Infinity
  #spilling: Spilling | undefined
  #spillTimer: NodeJS.Timeout | undefined
  /** Bookings in spools that are not taken in yet, by the spool's path. */
  readonly #spooled = new Map<string, readonly Booking[]>()
  /** Spools that the writer does not know yet. */
  #newSpools: string[] = []
  #spoolsLeft = 0
  /** The last number given to a booking. */
  #number = 0
  readonly #timing = new SendTiming(() => this.#send())
  #watch: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: LedgerOptions) {
    this.#options = options
    this.health = new StoreHealth(options.log)
    this.#link = new WriterLink(options.dataDir, options.file, (reply) => this.#onReply(reply))
  }

  /** This process' writer number in the file; 0 while it has none. */
  get writer(): number {
    return this.#link.shared.writer
  }

  /** Answers whose usage is not in the file yet. */
  get pendingAnswers(): number {
    const spilling = this.#spilling?.bookings.length ?? 0
    return this.#pending.answers + (this.#sent?.bookings.length ?? 0) + spilling
  }

  /** True while so many bookings wait that no more requests should be admitted. */
  get full(): boolean {
    return this.pendingAnswers >= mostPending
  }

  /** Starts the writer, which takes in the spools of earlier runs. */
  start(): void {
    this.#sendSoon(0)
  }

  /**
   * Books an answered request; does nothing after close().
   *
   * @param wait - Whether the reply must wait until the booking is in the file.
   * @returns With `wait`, a promise that resolves once the booking has been committed: to false if
   *   it was made before, for the same key. It rejects with `ERR_OVERLOADED` if that was not
   *   possible within a second, and with `ERR_IDEMPOTENCY_KEY` if its key belongs to another
   *   request: it is never charged then.
   */
  book(booking: Booking, wait: boolean): Promise<boolean> | undefined {
    if (this.#closed) return undefined
    if (!wait) {
      this.#pending.keep(booking)
      if (!this.health.failing) this.#sendSoon(lazyMs)
      this.#spillTimer ??= setTimeout(() => void this.#spill(), spillMs).unref()
      return undefined
    }
    const group = this.#pending.join(booking)
    if (!this.health.failing) this.#sendNext()
    this.#watchTime()
    return group.promise.then((kept) => {
      const why = kept.get(booking)
      if (why === 'reused') throw keyReused()
      return why === undefined
    })
  }

  /** Notes that a key was used now. Written within about a second. */
  markUsed(keyId: number): void {
    if (this.#closed) return
    this.#pending.used.set(keyId, Date.now())
    if (!this.health.failing) this.#sendSoon(usedMs)
  }

  /** @param written - Up to which number of this writer bookings are counted already. */
  *pending(written: number): Generator<Booking> {
    if (this.#sent !== undefined && this.#sent.first > written) yield* this.#sent.bookings
    yield* this.#pending
    if (this.#spilling !== undefined) yield* this.#spilling.bookings
    for (const bookings of this.#spooled.values()) yield* bookings
  }

  /**
   * Writes what is pending now, and blocks the event loop for it.
   *
   * @param limitMs - At most this long.
   * @returns False if some could not be written.
   */
  flush(limitMs = closingMs): boolean {
    if (this.#closed) return true
    const endMs = performance.now() + limitMs
    while (this.#owesWrites || this.#pending.used.size > 0) {
      const { failedWrites } = this.health
      this.#send()
      if (!this.#link.await(Math.max(0, endMs - performance.now()))) return false
      if (this.health.failedWrites > failedWrites) return false
    }
    return true
  }

  /**
   * Writes what is pending for the last time: within two seconds, or to a spool. Idempotent.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if no spool could be written either: the lost usage is
   *   in the log.
   */
  close(): void {
    if (this.#closed) return
    const endMs = performance.now() + closingMs
    while (!this.flush(endMs - performance.now()) && performance.now() < endMs) {
      // The last use of a key charges nobody.
      if (this.pendingAnswers === 0) break
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
    }
    this.#closed = true
    this.#timing.clear()
    clearTimeout(this.#watch)
    clearTimeout(this.#spillTimer)
    if (this.#spilling !== undefined) spillNow(this.#options.dataDir, this.#spilling)
    const sent = this.#sent
    const uncertain = sent !== undefined && (sent.unknown || !this.#link.shared.withdraw())
    this.#link.close(patienceMs)
    for (const group of sent?.groups ?? []) if (!group.withdrawn) group.withdraw(patienceMs)
    this.#pending.withdraw(Infinity, patienceMs)
    const lazy = sent === undefined ? [] : lazyOf(sent)
    const owed = [...lazy, ...this.#pending.lazy()]
    const { dataDir, log } = this.#options
    keepForNextStart(dataDir, owed, log, uncertain ? this.#uncertain(sent) : undefined)
  }

  get #owesWrites(): boolean {
    return this.#sent !== undefined || !this.#pending.empty
  }

  /** Whether bookings wait for a writer that fails, or that does not answer. */
  get #stuck(): boolean {
    const sent = this.#sent
    return this.health.failing || (sent !== undefined && performance.now() - sent.sinceMs >= spillMs)
  }

  /** Rule 3. */
  async #spill(): Promise<void> {
    this.#spillTimer = undefined
    if (this.#closed || this.#spilling !== undefined || !this.#stuck) return
    const bookings = this.#pending.takeLazy()
    if (bookings.length === 0) return
    const spilling = (this.#spilling = { id: randomUUID(), bookings })
    const path = await spill(this.#options.dataDir, spilling)
    if (this.#closed) return
    this.#spilling = undefined
    if (path === undefined) {
      for (const booking of bookings) this.#pending.keep(booking)
    } else {
      // For reports of usage; beyond the bound they have it once it is taken in.
      const known = this.#spooled.size < mostSpooled
      if (known) this.#spooled.set(path, bookings)
      this.#newSpools.push(path)
    }
    this.#sendSoon(this.health.failing ? retryMs : lazyMs)
    this.#spillTimer ??= setTimeout(() => void this.#spill(), spillMs).unref()
  }

  #uncertain(sent: Sent): Uncertain {
    const count = lazyOf(sent).length
    const refused = sent.bookings.slice(0, sent.bookings.length - count)
    return { writer: this.writer, first: sent.first, count, refused }
  }

  /** Sends once the event loop has done its current work. */
  #sendNext(): void {
    if (!this.#link.underWay) this.#timing.next(this.health.walBytes)
  }

  #sendSoon(waitMs: number): void {
    // Uses of keys do not keep the process alive; bookings do.
    if (!this.#closed) this.#timing.within(waitMs, !this.#pending.empty)
  }

  #send(): void {
    this.#timing.clear()
    if (this.#link.underWay || this.#closed) return
    this.#sent ??= this.#take()
    const { first, bookings, used, unknown } = this.#sent
    try {
      const spools = this.#newSpools
      this.#link.send({ first, bookings: pack(bookings), used: [...used], askOnly: unknown, spools })
      this.#newSpools = []
    } catch (error) {
      // No thread could be started: nothing was sent.
      const reason = error instanceof Error ? error.message : String(error)
      if (!unknown) this.#giveBack()
      this.health.fail(reason, false)
      this.#sendSoon(retryMs)
    }
  }

  #take(): Sent {
    const now = performance.now()
    // With each batch they would cost one more page to write, and nobody waits for them.
    const withUsed = this.#pending.empty || now - this.#usedSentMs >= usedMs
    if (withUsed) this.#usedSentMs = now
    const batch = this.#pending.take(withUsed)
    const first = this.#number + 1
    this.#number += batch.bookings.length
    return { ...batch, first, sinceMs: now, unknown: false }
  }

  #giveBack(): void {
    this.#pending.giveBack(this.#sent!)
    this.#sent = undefined
  }

  #onReply(reply: WriteReply): void {
    this.health.note(reply)
    for (const path of reply.takenIn) this.#spooled.delete(path)
    this.#spoolsLeft = reply.spoolsLeft
    if (reply.moved) this.#options.onMoved?.()
    if (reply.outcome === 'committed') this.#settle(this.#sent!, reply.kept)
    else if (reply.outcome === 'unknown') this.#sent!.unknown = true
    else this.#giveBack()
    if (this.health.failing) this.#sendSoon(retryMs)
    else if (this.#pending.groups.length > 0) this.#sendNext()
    else if (!this.#pending.empty || this.#spoolsLeft > 0) this.#sendSoon(lazyMs)
    else if (this.#pending.used.size > 0) this.#sendSoon(usedMs)
  }

  #settle({ groups, bookings }: Sent, found: WriteReply['kept']): void {
    this.#sent = undefined
    const kept: KeptBookings = new Map(found.map(([i, why]) => [bookings[i]!, why]))
    for (const group of groups) {
      if (!group.withdrawn) group.resolve(kept)
      else {
        for (const booking of group.bookings) {
          if (!kept.has(booking)) this.#pending.keep(reversed(booking))
        }
      }
    }
  }

  get #patienceMs(): number {
    return this.#link.heard ? patienceMs : startingMs
  }

  /**
   * Checks again when the time of the oldest group may be up (rule 2), which may become earlier.
   */
  #watchTime(): void {
    if (this.#watch !== undefined || this.#closed) return
    const groups = [...(this.#sent?.groups ?? []), ...this.#pending.groups]
    const oldest = groups.find(({ withdrawn }) => !withdrawn)
    if (oldest === undefined) return
    const waitMs = oldest.sinceMs + this.#patienceMs - performance.now()
    const lookMs = Math.min(Math.max(pauseMs, waitMs), patienceMs)
    this.#watch = setTimeout(() => this.#loseTime(), lookMs)
  }

  #loseTime(): void {
    this.#watch = undefined
    // After a pause of the machine, a reply may have arrived long ago and only wait to be read.
    this.#link.await(0)
    if (!this.#link.underWay && !this.health.failing) this.#send()
    const dueMs = performance.now() - this.#patienceMs
    const sent = this.#sent
    const late = sent?.groups.filter(({ sinceMs, withdrawn }) => !withdrawn && sinceMs <= dueMs)
    if (sent !== undefined && late?.length && (sent.unknown || sent.sinceMs <= dueMs)) {
      this.health.refuse(sent.sinceMs)
      // The outcome of a commit in progress is known a moment later, unless the disk hangs.
      const certain = sent.unknown || this.#link.shared.withdraw()
      for (const group of late) {
        if (certain || group.sinceMs <= dueMs - patienceMs) group.withdraw(patienceMs)
      }
    }
    if (this.#pending.withdraw(dueMs, patienceMs) > 0) this.health.refuse(dueMs)
    this.#watchTime()
  }
}

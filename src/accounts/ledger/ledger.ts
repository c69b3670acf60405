/**
 * Bookings on their way into the file: collected here, and written by a thread of its own
 * (store-writer.ts). A caller that must not lose a booking waits for it.
 *
 * Rules
 *   1. Only `flush()` and `close()` wait or throw: the event loop goes on whatever the disk does.
 *   2. A booking with a waiter is written within a second, or it is withdrawn: the waiter is told,
 *      and it is never charged. If it turns out later that it was written after all, which nobody
 *      could know then, it is taken back.
 *   3. A booking without a waiter (no balance) stays until it is written: while that fails, within
 *      a second in a spool (spilling.ts), as at the end. Beyond a bound `full` is true.
 *   4. One batch is under way at a time, and bookings that arrive meanwhile form the next: batches
 *      grow with the load, so a booking costs almost nothing. Numbers are given when a batch is
 *      sent, so those in the file are always the first ones of its writer (write-bookings.ts, rule
 *      3).
 *
 * @module
 */

import { type Booking, pack, reversed } from './booking.js'
import { type KeptBookings, lazyOf, Pending, type Sent } from './pending.js'
import { keepForNextStart, uncertainOf } from './spool.js'
import { SendTiming } from './send-timing.js'
import { Spilling } from './spilling.js'
import { patienceMs, StoreHealth } from './store-health.js'
import type { LedgerOptions } from './ledger-store.js'
import type { WriteReply } from './write-request.js'
import { WriterLink } from './writer-link.js'

/** How long a booking without a waiter may stay in memory, milliseconds. */
const lazyMs = 20
/** How long to wait before a failed write is tried again. */
const retryMs = 250
/** How long uses of keys are collected. */
const usedMs = 1000
/** Answers that may wait to be written, in spools too. */
const mostPending = 50_000
/** How long closing may take: the rest goes to a spool. */
const closingMs = 2000
/** The pause between tries during close(), when nothing else runs any more. */
const pauseMs = 20

export class Ledger {
  readonly health: StoreHealth
  readonly #options: LedgerOptions
  readonly #link: WriterLink
  readonly #pending = new Pending()
  #sent: Sent | undefined
  #usedSentMs = -Infinity
  readonly #spilling: Spilling
  /** The last number given to a booking. */
  #number = 0
  readonly #timing = new SendTiming(() => this.#send())
  #watch: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: LedgerOptions) {
    this.#options = options
    this.health = new StoreHealth(options)
    this.#spilling = new Spilling({
      ...{ place: options.store.place, log: options.log, pending: this.#pending },
      takesAll: () => this.health.inGrace,
      stuckForMs: () => Math.max(this.health.failingForMs, this.#sentForMs),
      onWritten: () => {
        this.#sendSoon(this.health.failing ? retryMs : lazyMs)
        // Meanwhile nobody has watched the time of waiters that are back.
        clearTimeout(this.#watch)
        this.#loseTime()
      },
    })
    this.#link = new WriterLink(options.store, (reply) => this.#onReply(reply))
  }

  /** This process' writer number in the file; 0 while it has none. */
  get writer(): number {
    return this.#link.shared.writer
  }

  /** Answers whose usage is not in the file yet. */
  get pendingAnswers(): number {
    return this.#inMemory + this.#spilling.answers
  }

  get #sentForMs(): number {
    return this.#sent === undefined ? 0 : performance.now() - this.#sent.sinceMs
  }

  get #inMemory(): number {
    return this.#pending.answers + (this.#sent?.bookings.length ?? 0)
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
      this.#spilling.lookSoon()
      return undefined
    }
    const group = this.#pending.join(booking)
    if (!this.health.failing) this.#sendNext()
    if (this.#options.graceMs) this.#spilling.lookSoon()
    this.#watchTime()
    return group.madeOf(booking)
  }

  /** Notes that a key was used now. Written within about a second. */
  markUsed(keyId: number): void {
    if (this.#closed) return
    this.#pending.used.set(keyId, Date.now())
    if (!this.health.failing) this.#sendSoon(usedMs)
  }

  /**
   * @param written - Up to which number of this writer bookings are counted already.
   * @param takenInOf - Which of these spools' bookings are.
   */
  *pending(
    written: number,
    takenInOf: (ids: readonly string[]) => Set<string>,
  ): Generator<Booking> {
    if (this.#sent !== undefined && this.#sent.first > written) yield* this.#sent.bookings
    yield* this.#pending
    yield* this.#spilling.bookings(takenInOf)
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
    while (this.#sent !== undefined || !this.#pending.empty || this.#pending.used.size > 0) {
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
    this.#spilling.close()
    const endMs = performance.now() + closingMs
    while (!this.flush(endMs - performance.now()) && performance.now() < endMs) {
      // The last use of a key charges nobody.
      if (this.#inMemory === 0) break
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
    }
    this.#closed = true
    this.#timing.clear()
    clearTimeout(this.#watch)
    const sent = this.#sent
    const uncertain = sent !== undefined && (sent.unknown || !this.#link.shared.withdraw())
    this.#link.close(patienceMs)
    for (const group of sent?.groups ?? []) if (!group.withdrawn) group.withdraw(patienceMs)
    this.#pending.withdraw(Infinity, patienceMs)
    const lazy = sent === undefined ? [] : lazyOf(sent)
    const owed = [...lazy, ...this.#pending.lazy()]
    const { store, log } = this.#options
    keepForNextStart(store.place, owed, log, uncertain ? uncertainOf(this.writer, sent) : undefined)
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
      const spools = this.#spilling.announce()
      const packed = pack(bookings)
      this.#link.send({ first, bookings: packed, used: [...used], askOnly: unknown, spools })
    } catch (error) {
      // No thread could be started: nothing was sent.
      const reason = error instanceof Error ? error.message : String(error)
      if (!unknown) this.#giveBack()
      this.#spilling.announceAgain()
      this.health.fail(reason, false)
      this.#sendSoon(retryMs)
    }
  }

  #take(): Sent {
    const now = performance.now()
    // With each batch they would cost one more page to write, and nobody waits for them.
    const withUsed = this.#pending.empty || now - this.#usedSentMs >= usedMs
    if (withUsed) this.#usedSentMs = now
    const { bookings, groups, used } = this.#pending.take(withUsed)
    const first = this.#number + 1
    this.#number += bookings.length
    return { bookings, groups, used, first, sinceMs: now, unknown: false }
  }

  #giveBack(): void {
    this.#pending.giveBack(this.#sent!)
    this.#sent = undefined
  }

  #onReply(reply: WriteReply): void {
    this.health.note(reply)
    this.#spilling.forget(reply.takenIn)
    if (reply.moved) this.#options.onMoved?.()
    if (reply.outcome === 'committed') this.#settle(this.#sent!, reply.kept)
    else if (reply.outcome === 'unknown') this.#sent!.unknown = true
    else this.#giveBack()
    // Its thread may have ended, and with it what it was told.
    if (reply.outcome === 'unknown') this.#spilling.announceAgain()
    this.#spilling.look()
    if (this.health.failing) this.#sendSoon(retryMs)
    else if (this.#pending.groups.length > 0) this.#sendNext()
    else if (!this.#pending.empty || reply.spoolsLeft > 0) this.#sendSoon(lazyMs)
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

  /**
   * Checks again when the time of the oldest group may be up (rule 2), which may become earlier.
   */
  #watchTime(): void {
    if (this.#watch !== undefined || this.#closed) return
    const groups = [...(this.#sent?.groups ?? []), ...this.#pending.groups]
    const oldest = groups.find(({ withdrawn }) => !withdrawn)
    if (oldest === undefined) return
    const waitMs = oldest.sinceMs + this.#link.patienceMs - performance.now()
    const lookMs = Math.min(Math.max(pauseMs, waitMs), patienceMs)
    this.#watch = setTimeout(() => this.#loseTime(), lookMs)
  }

  #loseTime(): void {
    this.#watch = undefined
    // After a pause of the machine, a reply may have arrived long ago and only wait to be read.
    this.#link.await(0)
    if (!this.#link.underWay && !this.health.failing) this.#send()
    const dueMs = performance.now() - this.#link.patienceMs
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

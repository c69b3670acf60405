/**
 * Bookings that are not in the file yet, and uses of keys.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import { type Booking, mergeInto, type Sum } from './booking.js'
import type { Kept } from './retry-key-writer.js'
import { keyReused } from './retry-keys.js'

/** Bookings of a group that were not made because of their keys, and why. */
export type KeptBookings = ReadonlyMap<Booking, Kept>

/** Bookings whose waiters wait together. */
export class Group {
  readonly bookings: Booking[] = []
  readonly sinceMs = performance.now()
  readonly promise: Promise<KeptBookings>
  /** Of all bookings without a key. */
  readonly #made: Promise<boolean>
  /** Called once they are written. */
  resolve = (_kept: KeptBookings) => {}
  #reject = (_error: OiError) => {}
  #withdrawn = false

  constructor() {
    this.promise = new Promise((done, failed) => {
      this.resolve = done
      this.#reject = failed
    })
    // Waiters still see the rejection; without a handler it would end the process.
    this.promise.catch(() => {})
    this.#made = this.promise.then(() => true)
    this.#made.catch(() => {})
  }

  /** True once the waiters have been refused: the bookings must not be charged. */
  get withdrawn(): boolean {
    return this.#withdrawn
  }

  /** Whether a booking was made, and not before for the same key; as {@link promise} otherwise. */
  madeOf(booking: Booking): Promise<boolean> {
    if (booking.retry === undefined) return this.#made
    const made = this.promise.then((kept) => {
      const why = kept.get(booking)
      if (why === 'reused') throw keyReused()
      return why === undefined
    })
    made.catch(() => {})
    return made
  }

  withdraw(retryAfterMs: number): void {
    this.#withdrawn = true
    const message = 'The server cannot write its accounts: the answer was not charged'
    this.#reject(new OiError('ERR_OVERLOADED', message, { retryAfterMs }))
  }
}

/** A batch: first the groups' bookings, then those without a waiter. */
export interface Batch {
  readonly bookings: readonly Booking[]
  readonly groups: readonly Group[]
  readonly used: ReadonlyMap<number, number>
}

/** A batch that was sent to be written. */
export interface Sent extends Batch {
  /** The number of its first booking. */
  readonly first: number
  readonly sinceMs: number
  /** Whether its outcome is unknown and must be found out first. */
  unknown: boolean
}

/** The bookings of a batch without a waiter. */
export function lazyOf({
  bookings,
  groups,
}: Pick<Batch, 'bookings' | 'groups'>): readonly Booking[] {
  return bookings.slice(groups.reduce((sum, group) => sum + group.bookings.length, 0))
}

/** Bookings that leave memory, and their waiters. */
export interface Taken {
  readonly bookings: readonly Booking[]
  /** The first bookings are theirs. */
  readonly groups: readonly Group[]
  readonly answers: number
}

export class Pending {
  /** When each key was last used, milliseconds since 1970. */
  readonly used = new Map<number, number>()
  #groups: Group[] = []
  #lazy: Booking[] = []
  /** Sums of bookings that cost nothing and have no waiter: few sums for any number of bookings. */
  readonly #free = new Map<string, Sum>()
  #answers = 0

  get groups(): readonly Group[] {
    return this.#groups
  }

  /** The number of answers that are booked here. */
  get answers(): number {
    return this.#answers
  }

  get empty(): boolean {
    return this.#groups.length === 0 && this.#lazy.length === 0 && this.#free.size === 0
  }

  /** Adds a booking without a waiter. */
  keep(booking: Booking): void {
    this.#answers += Math.abs(booking.requests)
    if (booking.cost === 0 && booking.retry === undefined && isWhole(booking))
      mergeInto(this.#free, booking)
    else this.#lazy.push(booking)
  }

  /** Adds a booking to the next group. */
  join(booking: Booking): Group {
    let group = this.#groups.at(-1)
    if (group === undefined) this.#groups.push((group = new Group()))
    group.bookings.push(booking)
    this.#answers++
    return group
  }

  /** @param withUsed - Whether uses of keys are written too. */
  take(withUsed: boolean): Batch {
    const groups = this.#groups
    const bookings = groups.flatMap((group) => group.bookings).concat(this.lazy())
    const used = new Map(withUsed ? this.used : [])
    this.#groups = []
    this.#lazy = []
    this.#free.clear()
    if (withUsed) this.used.clear()
    this.#answers = 0
    return { bookings, groups, used }
  }

  /** Returns a batch that was not written: it waits again, before later bookings. */
  giveBack(batch: Batch | Taken): void {
    const groups = batch.groups.filter(({ withdrawn }) => !withdrawn)
    for (const { bookings } of groups) this.#answers += bookings.length
    this.#groups = [...groups, ...this.#groups]
    for (const booking of lazyOf(batch)) this.keep(booking)
    const used = 'used' in batch ? batch.used : []
    for (const [id, ms] of used) if (!this.used.has(id)) this.used.set(id, ms)
  }

  /** Withdraws the groups that have waited since `sinceMs` or longer. @returns Their number. */
  withdraw(sinceMs: number, retryAfterMs: number): number {
    const late = this.#groups.filter((group) => group.sinceMs <= sinceMs)
    for (const group of late) {
      group.withdraw(retryAfterMs)
      this.#answers -= group.bookings.length
    }
    this.#groups = this.#groups.filter((group) => group.sinceMs > sinceMs)
    return late.length
  }

  /** Takes the bookings without a waiter. */
  takeLazy(): Taken {
    const bookings = this.lazy()
    const waited = this.#groups.reduce((sum, group) => sum + group.bookings.length, 0)
    const answers = this.#answers - waited
    this.#lazy = []
    this.#free.clear()
    this.#answers = waited
    return { bookings, answers, groups: [] }
  }

  /** Takes all bookings, to be answered before they are in the accounts. */
  takeAll(): Taken {
    const answers = this.#answers
    const { bookings, groups } = this.take(false)
    return { bookings: bookings.map(answered), answers, groups }
  }

  /** The bookings without a waiter. */
  lazy(): Booking[] {
    return [...this.#lazy, ...this.#free.values()]
  }

  *[Symbol.iterator](): Generator<Booking> {
    for (const { bookings } of this.#groups) yield* bookings
    yield* this.#lazy
    yield* this.#free.values()
  }
}

/** A booking whose answer cannot be refused any more when its key is looked at. */
function answered(booking: Booking): Booking {
  const { retry } = booking
  return retry === undefined ? booking : { ...booking, retry: { ...retry, answered: true } }
}

/** Whether a booking can be added to a sum: an invalid one would spoil the sum. */
function isWhole(booking: Booking): boolean {
  const { requests, inputTokens, outputTokens, imageTokens, cachedTokens } = booking
  // The sum is a safe integer only if all terms are.
  return Number.isSafeInteger(requests + inputTokens + outputTokens + imageTokens + cachedTokens)
}

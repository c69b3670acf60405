/**
 * Bookings that are not in the file yet, and uses of keys.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { addTo, type Booking, type Sum, sumKey } from './booking.js'

/** Bookings that are waited for together. */
export class Group {
  readonly bookings: Booking[] = []
  readonly sinceMs = performance.now()
  readonly promise: Promise<void>
  /** Told that it is written. */
  resolve = () => {}
  #reject = (_error: OiError) => {}
  #withdrawn = false

  constructor() {
    this.promise = new Promise<void>((done, failed) => {
      this.resolve = done
      this.#reject = failed
    })
    // Whoever waits hears of it all the same; a rejection that nobody hears ends the process.
    this.promise.catch(() => {})
  }

  /** True once whoever waited has been refused: it must not be charged. */
  get withdrawn(): boolean {
    return this.#withdrawn
  }

  withdraw(retryAfterMs: number): void {
    this.#withdrawn = true
    const message = 'The server cannot write its accounts: the answer was not charged'
    this.#reject(new OiError('ERR_OVERLOADED', message, { retryAfterMs }))
  }
}

/** What is written together: first the groups' bookings, then those for which nobody waits. */
export interface Batch {
  readonly bookings: readonly Booking[]
  readonly groups: readonly Group[]
  readonly used: ReadonlyMap<number, number>
}

/** The bookings of a batch for which nobody waits. */
export function lazyOf({ bookings, groups }: Batch): readonly Booking[] {
  return bookings.slice(groups.reduce((sum, group) => sum + group.bookings.length, 0))
}

export class Pending {
  /** When each key was used last, milliseconds since 1970. */
  readonly used = new Map<number, number>()
  #groups: Group[] = []
  #lazy: Booking[] = []
  /** Of bookings that cost nothing and that nobody waits for: however many, they are few sums. */
  readonly #free = new Map<string, Sum>()
  #answers = 0

  get groups(): readonly Group[] {
    return this.#groups
  }

  /** How many answers they stand for. */
  get answers(): number {
    return this.#answers
  }

  get empty(): boolean {
    return this.#groups.length === 0 && this.#lazy.length === 0 && this.#free.size === 0
  }

  /** Adds one for which nobody waits. */
  keep(booking: Booking): void {
    this.#answers += Math.abs(booking.requests)
    if (booking.cost === 0 && isWhole(booking)) mergeInto(this.#free, booking)
    else this.#lazy.push(booking)
  }

  /** Adds one to the group that comes next. */
  join(booking: Booking): Group {
    let group = this.#groups.at(-1)
    if (group === undefined) this.#groups.push((group = new Group()))
    group.bookings.push(booking)
    this.#answers++
    return group
  }

  /** @param withUsed - Whether uses of keys are written as well. */
  take(withUsed: boolean): Batch {
    const groups = this.#groups
    const bookings = [...groups.flatMap((group) => group.bookings), ...this.lazy()]
    const used = new Map(withUsed ? this.used : [])
    this.#groups = []
    this.#lazy = []
    this.#free.clear()
    if (withUsed) this.used.clear()
    this.#answers = 0
    return { bookings, groups, used }
  }

  /** What was taken and not written waits again, before what has come since. */
  giveBack(batch: Batch): void {
    const groups = batch.groups.filter(({ withdrawn }) => !withdrawn)
    for (const { bookings } of groups) this.#answers += bookings.length
    this.#groups = [...groups, ...this.#groups]
    for (const booking of lazyOf(batch)) this.keep(booking)
    for (const [id, ms] of batch.used) if (!this.used.has(id)) this.used.set(id, ms)
  }

  /** Withdraws the groups that have waited since `sinceMs` or longer. @returns How many. */
  withdraw(sinceMs: number, retryAfterMs: number): number {
    const late = this.#groups.filter((group) => group.sinceMs <= sinceMs)
    for (const group of late) {
      group.withdraw(retryAfterMs)
      this.#answers -= group.bookings.length
    }
    this.#groups = this.#groups.filter((group) => group.sinceMs > sinceMs)
    return late.length
  }

  /** Those for which nobody waits. */
  lazy(): Booking[] {
    return [...this.#lazy, ...this.#free.values()]
  }

  *[Symbol.iterator](): Generator<Booking> {
    for (const { bookings } of this.#groups) yield* bookings
    yield* this.#lazy
    yield* this.#free.values()
  }
}

/** Whether it can be added to a sum: one that cannot would take the sum with it. */
function isWhole(booking: Booking): boolean {
  const { requests, inputTokens, outputTokens, imageTokens, cachedTokens } = booking
  // A sum is whole only if all of it is.
  return Number.isSafeInteger(requests + inputTokens + outputTokens + imageTokens + cachedTokens)
}

/** Adds a booking to the sum of its kind. */
export function mergeInto(sums: Map<string, Sum>, booking: Booking): void {
  const key = sumKey(booking)
  const sum = sums.get(key)
  if (sum === undefined) sums.set(key, { ...booking })
  else addTo(sum, booking)
}

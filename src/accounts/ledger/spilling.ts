/**
 * Bookings that leave memory while the accounts cannot be written: into spools, one after the
 * other, which the writer takes in once it can write again.
 *
 * Rules
 *   1. A booking is in memory until its spool is complete on the disk; from then on it is the
 *      spool's, which one process takes in, once.
 *   2. One spool is written at a time, without blocking the event loop.
 *   3. What spools hold is remembered until it is taken in: reports of usage count it, and so does
 *      the bound of bookings that are not in the file.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import type { Booking } from './booking.js'
import type { KeptBookings, Pending, Taken } from './pending.js'
import type { SpoolPlace } from './spool-files.js'
import { leftBehind, spill, spillNow } from './spool.js'

interface Spilled extends Taken {
  readonly id: string
}

/** How long writing may fail before bookings are spooled. */
const spillMs = 400
/**
 * How long bookings gather for a spool while it fails, milliseconds: the longer it lasts, the longer,
 * as each spool is a file that has to be taken in.
 */
const gatherMs = (spools: number) => Math.min(50, 10 + spools / 20)

/** Whether a key was used before is known once the accounts have the booking. */
const noneKept: KeptBookings = new Map()

interface SpillingOptions {
  readonly place: SpoolPlace
  /** Whether bookings go there for which somebody waits, too. */
  readonly takesAll: () => boolean
  /** Takes a sentence for the operator. */
  readonly log: (text: string) => void
  readonly pending: Pending
  /** How long the writer has failed or has not answered, milliseconds. */
  readonly stuckForMs: () => number
  /** Called when a spool is complete, or could not be written. */
  readonly onWritten: () => void
}

export class Spilling {
  readonly #options: SpillingOptions
  #timer: NodeJS.Timeout | undefined
  #writing: Spilled | undefined
  /** By the spool's path. */
  readonly #spools = new Map<string, Spilled>()
  /** Spools that the writer does not know yet. */
  #unannounced: string[] = []
  #told = false
  #closed = false

  constructor(options: SpillingOptions) {
    this.#options = options
  }

  /** The number of answers that are in spools, or on their way there. */
  get answers(): number {
    let sum = 0
    for (const { answers } of this.#all()) sum += answers
    return sum
  }

  /** @param takenInOf - Which of these spools the accounts have already. */
  *bookings(takenInOf: (ids: readonly string[]) => ReadonlySet<string>): Generator<Booking> {
    const all = [...this.#all()]
    const takenIn = all.length === 0 ? new Set() : takenInOf(all.map(({ id }) => id))
    for (const { id, bookings } of all) if (!takenIn.has(id)) yield* bookings
  }

  /** Looks whether the writer is stuck, in time for a booking that has come now. */
  lookSoon(): void {
    const { stuckForMs, takesAll } = this.#options
    // Somebody waits for those that can be answered from there.
    const soonMs = takesAll() && stuckForMs() >= spillMs ? gatherMs(this.#spools.size) : spillMs
    this.#timer ??= setTimeout(() => this.look(), soonMs).unref()
  }

  /** Spools the bookings that wait, if the writer is stuck. */
  look(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { pending, stuckForMs, takesAll } = this.#options
    const stuckMs = stuckForMs()
    if (stuckMs === 0) this.#told = false
    if (stuckMs < spillMs || this.#closed || this.#writing !== undefined) return
    const taken = takesAll() ? pending.takeAll() : pending.takeLazy()
    if (taken.bookings.length > 0) void this.#write({ id: randomUUID(), ...taken })
  }

  async #write(spilled: Spilled): Promise<void> {
    const { pending, place, log, onWritten } = this.#options
    this.#writing = spilled
    const path = await spill(place, spilled.id, spilled.bookings)
    if (this.#closed) return
    this.#writing = undefined
    if (path === undefined) pending.giveBack(spilled)
    else {
      for (const group of spilled.groups) group.resolve(noneKept)
      this.#spools.set(path, { ...spilled, groups: [] })
      this.#unannounced.push(path)
      if (!this.#told)
        log(`While the accounts cannot be written, usage is kept in ${dirname(path)}`)
      this.#told = true
    }
    onWritten()
  }

  /** The spools that the writer must be told of. */
  announce(): readonly string[] {
    const paths = this.#unannounced
    this.#unannounced = []
    return paths
  }

  /** The writer may not have heard what was announced, or it was not heard itself. */
  announceAgain(): void {
    this.#unannounced = [...this.#spools.keys()]
  }

  forget(paths: readonly string[]): void {
    for (const path of paths) this.#spools.delete(path)
  }

  /**
   * Begins no further spool, and completes the one under way, for which it blocks. If it cannot, its
   * bookings wait again.
   */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    const writing = this.#writing
    if (writing === undefined) return
    this.#writing = undefined
    const { place, pending, log } = this.#options
    const path = spillNow(place, writing.id, writing.bookings)
    if (path === undefined) pending.giveBack(writing)
    else {
      for (const group of writing.groups) group.resolve(noneKept)
      log(leftBehind(writing.answers, path))
    }
  }

  *#all(): Generator<Spilled> {
    yield* this.#spools.values()
    if (this.#writing !== undefined) yield this.#writing
  }
}

/**
 * Whether the accounts can be written, and what the operator has been told about it.
 *
 * @module
 */

import { counted } from '../../api/words.js'
import type { LedgerOptions } from './ledger-store.js'
import type { WriteReply } from './write-request.js'

/** Shorter failures are not reported: another process' write, a pause of the machine. */
export const patienceMs = 1000

/** How long there is no further line about bookings that could not be made. */
const asideMs = 60_000

export interface StoreFigures {
  readonly failing: boolean
  readonly failedWrites: number
  /** Bookings that could not be made, and are set aside. */
  readonly setAside: number
  /** At the last write. */
  readonly fileBytes: number
  readonly walBytes: number
}

export class StoreHealth {
  readonly #log: (text: string) => void
  /** What does not answer, if nothing does. */
  readonly #store: string
  readonly #graceMs: number
  #sinceMs: number | undefined
  #reason = ''
  /** Whether the operator has been told of the failure. */
  #told = false
  #failedWrites = 0
  #setAside = 0
  /** The number that the operator has been told, and when. */
  #toldAside = { number: 0, atMs: -Infinity }
  #fileBytes = 0
  #walBytes = 0

  /** Its log takes one sentence when writing begins to fail, and one when it works again. */
  constructor({ log, store, graceMs = 0 }: LedgerOptions) {
    this.#log = log
    this.#store = store.url === undefined ? 'the disk' : 'PostgreSQL'
    this.#graceMs = graceMs
  }

  get failing(): boolean {
    return this.#sinceMs !== undefined
  }

  /** How long it has failed, milliseconds; 0 if it does not. */
  get failingForMs(): number {
    return this.#sinceMs === undefined ? 0 : performance.now() - this.#sinceMs
  }

  get failedWrites(): number {
    return this.#failedWrites
  }

  get walBytes(): number {
    return this.#walBytes
  }

  /**
   * Why nothing could be written for a second; undefined if writing works or nothing is pending.
   */
  get trouble(): string | undefined {
    return this.failingForMs >= patienceMs ? this.#reason : undefined
  }

  /** Whether bookings for which somebody waits go to spools, should they fail to be written. */
  get inGrace(): boolean {
    return this.failingForMs < this.#graceMs
  }

  /** Why answers that must be booked are refused; undefined: they are not. */
  get refusal(): string | undefined {
    return this.inGrace ? undefined : this.trouble
  }

  get figures(): StoreFigures {
    return {
      failing: this.failing,
      failedWrites: this.#failedWrites,
      setAside: this.#setAside,
      fileBytes: this.#fileBytes,
      walBytes: this.#walBytes,
    }
  }

  /** Notes the outcome of a write. */
  note({ outcome, failure, fileBytes, walBytes, notes, setAside }: WriteReply): void {
    // 0: the file's size could not be read.
    if (fileBytes > 0) [this.#fileBytes, this.#walBytes] = [fileBytes, walBytes]
    for (const note of notes) this.#log(note)
    this.#setAside += setAside.setAside
    this.#tellAside(setAside.reason)
    if (failure !== undefined) this.fail(failure.reason, failure.busy)
    else if (outcome === 'committed') this.#recover()
  }

  /**
   * @param brief - Whether it is likely to pass in a moment: it is reported only if it does not.
   */
  fail(reason: string, brief: boolean, sinceMs = performance.now()): void {
    this.#failedWrites++
    this.#sinceMs ??= sinceMs
    this.#reason = reason
    if (!brief || this.trouble !== undefined) this.#tell()
  }

  /** Notes that callers have been refused because of it. */
  refuse(sinceMs: number): void {
    if (this.#sinceMs === undefined) this.fail(`${this.#store} does not answer`, false, sinceMs)
    else this.#tell()
  }

  #tell(): void {
    if (this.#told) return
    this.#told = true
    this.#log(`The accounts cannot be written, and it is tried again: ${this.#reason}`)
  }

  /** At most one sentence a minute, even if no booking can be made. */
  #tellAside(reason: string): void {
    const number = this.#setAside - this.#toldAside.number
    const now = performance.now()
    if (number === 0 || now - this.#toldAside.atMs < asideMs) return
    this.#toldAside = { number: this.#setAside, atMs: now }
    this.#log(
      `${counted(number, 'booking')} could not be made, and ${number === 1 ? 'is' : 'are'} ` +
        `kept in the table set_aside: ${reason}`,
    )
  }

  #recover(): void {
    this.#sinceMs = undefined
    if (!this.#told) return
    this.#told = false
    this.#log('The accounts can be written again')
  }
}

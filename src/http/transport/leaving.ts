/**
 * The replies that have not left the process yet, which the end of the server waits for, and
 * those who do not take theirs, which are cut off.
 *
 * @module
 */

import type { Link } from '../../chain.js'
import { Running } from '../exchange/running.js'

export interface Leaver {
  /** When the last piece of it was taken, on the clock of `performance.now()`. */
  readonly progressMs: number
  /** Ends the connection; the transport then calls {@link Leaving.delete}. */
  cut(): void
}

/** How long a refusal waits for the end of its request's body, in all and for its next part. */
export const dropMs = 10_000
export const dropGapMs = 1000
/** And for how many bytes. */
export const dropBytes = 256 * 2 ** 20

/** How often it is looked who does not get on, milliseconds. */
const lookMs = 1000

export class Leaving {
  readonly #leavers = new Running<Leaver>()
  readonly #patienceMs: number
  #timer: NodeJS.Timeout | undefined

  /** @param patienceMs - How long a client may read nothing of what is there for it. */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  get size(): number {
    return this.#leavers.size
  }

  /** @returns What {@link delete} takes. */
  add(leaver: Leaver): Link<Leaver> {
    this.#timer ??= setInterval(() => this.#cutOff(), Math.min(lookMs, this.#patienceMs)).unref()
    return this.#leavers.add(leaver)
  }

  /** Idempotent. */
  delete(link: Link<Leaver> | undefined): void {
    this.#leavers.delete(link)
    if (this.#leavers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Resolves when all have left, or after `limitMs`. */
  async drain(limitMs: number): Promise<void> {
    await this.#leavers.drain(limitMs)
  }

  #cutOff(): void {
    const latestMs = performance.now() - this.#patienceMs
    for (const leaver of this.#leavers.entries()) if (leaver.progressMs < latestMs) leaver.cut()
  }
}

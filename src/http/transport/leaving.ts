/**
 * Replies that have not left the process yet: the server's close waits for them, and clients that
 * do not read theirs are cut off.
 *
 * @module
 */

import type { Membership } from '../../chain.js'
import { Running } from '../../running.js'

export interface Leaver {
  /** When the client last took a piece of the reply, on the clock of `performance.now()`. */
  readonly progressMs: number
  /** Ends the connection; the transport then ends what {@link Leaving.add} began. */
  cut(): void
}

/** How long a refusal waits for the end of its request's body, in total and for the next part. */
export const dropMs = 10_000
export const dropGapMs = 1000
/** The most bytes that such a refusal waits for. */
export const dropBytes = 256 * 2 ** 20

/** How often slow clients are looked for, milliseconds. */
const lookMs = 1000

export class Leaving {
  readonly #leavers = new Running<Leaver>(() => {
    clearInterval(this.#timer)
    this.#timer = undefined
  })
  readonly #patienceMs: number
  #timer: NodeJS.Timeout | undefined

  /** @param patienceMs - How long a client may stop reading while data wait for it. */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  get size(): number {
    return this.#leavers.size
  }

  add(leaver: Leaver): Membership {
    this.#timer ??= setInterval(() => this.#cutOff(), Math.min(lookMs, this.#patienceMs)).unref()
    return this.#leavers.add(leaver)
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

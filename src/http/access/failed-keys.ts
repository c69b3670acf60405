/**
 * How many wrong keys each address has sent: beyond a few per minute they are answered late.
 *
 * The answer stays what it is (401), so that nobody's first mistake looks like something else
 * because of a neighbour; whoever guesses is slowed down. Whoever sends a good key is never looked
 * up here. A plain map and no rate limiter of a package: those answer with a promise, while a key
 * is judged on the spot, and keep a timer for each address, however many there are.
 *
 * @module
 */

import { networkOf } from './client-address.js'

/** Wrong keys in a window that are answered at once. */
const allowed = 20
const windowMs = 60_000

/** Each further one is answered later than the last, up to the longest delay. */
const delayStepMs = 20
const longestDelayMs = 1000
/** Answers that are held back at the same time; beyond that, guessing costs memory. */
const mostHeld = 256

/** Beyond it the oldest is forgotten: a bound on memory, not on anybody's patience. */
const mostAddresses = 10_000

interface Window {
  readonly endMs: number
  failures: number
}

/** That an address has sent too many wrong keys. */
export interface TooMany {
  /** Until the window is over. */
  readonly retryAfterMs: number
  /** How much later this one is answered. */
  readonly delayMs: number
}

export class FailedKeys {
  /** In the order in which the windows began. */
  readonly #windows = new Map<string, Window>()
  #held = 0

  /** Addresses that are remembered. */
  get size(): number {
    return this.#windows.size
  }

  /**
   * Counts a wrong key.
   *
   * @param address - Where it came from.
   * @param nowMs - On the clock of `performance.now()`.
   * @returns Undefined while there were few within the minute.
   */
  count(address: string, nowMs = performance.now()): TooMany | undefined {
    const network = networkOf(address)
    let window = this.#windows.get(network)
    if (window === undefined || window.endMs <= nowMs) {
      window = { endMs: nowMs + windowMs, failures: 0 }
      this.#begin(network, window)
    }
    const beyond = ++window.failures - allowed
    if (beyond <= 0) return undefined
    return {
      retryAfterMs: window.endMs - nowMs,
      delayMs: Math.min(beyond * delayStepMs, longestDelayMs),
    }
  }

  /**
   * Answers later.
   *
   * @returns False if too many answers are held back already: this one has to be given at once.
   */
  hold(delayMs: number, answer: () => void): boolean {
    if (this.#held >= mostHeld) return false
    this.#held++
    setTimeout(() => {
      this.#held--
      answer()
    }, delayMs).unref()
    return true
  }

  #begin(network: string, window: Window): void {
    // Deleted first: an entry that is only replaced would keep its old place.
    this.#windows.delete(network)
    if (this.#windows.size >= mostAddresses) {
      const [oldest] = this.#windows.keys()
      this.#windows.delete(oldest!)
    }
    this.#windows.set(network, window)
  }
}

/**
 * Rate limit of wrong keys by address: after a few per minute, their replies are delayed.
 *
 * The reply stays a 401, so that a first mistake does not look different because of a neighbour;
 * guessing is slowed down. Valid keys are never looked up here. A plain map and not a rate limiter
 * package: those answer with a promise, while a key is checked synchronously, and keep a timer for
 * each address, without a bound.
 *
 * @module
 */

import { networkOf } from './client-address.js'
import { keepLatest } from './keep-latest.js'

/** Wrong keys per window that are answered at once. */
const allowed = 20
const windowMs = 60_000

/** Each further reply is delayed more than the last, up to the longest delay. */
const delayStepMs = 20
const longestDelayMs = 1000
/** Replies that are held back at once: a bound on memory. */
const mostHeld = 256

/** Beyond it the oldest address is forgotten: a bound on memory. */
const mostAddresses = 10_000

interface Window {
  readonly endMs: number
  failures: number
}

/** An address has sent too many wrong keys. */
interface TooMany {
  /** Until the window ends. */
  readonly retryAfterMs: number
  /** The delay of this reply. */
  readonly delayMs: number
}

export class FailedKeys {
  /** In the order in which the windows began. */
  readonly #windows = new Map<string, Window>()
  #held = 0

  /** The number of addresses. */
  get size(): number {
    return this.#windows.size
  }

  /**
   * Counts a wrong key.
   *
   * @param address - The client's.
   * @param nowMs - On the clock of `performance.now()`.
   * @returns Undefined while the address has sent few within the minute.
   */
  count(address: string, nowMs = performance.now()): TooMany | undefined {
    const network = networkOf(address)
    let window = this.#windows.get(network)
    if (window === undefined || window.endMs <= nowMs) {
      window = { endMs: nowMs + windowMs, failures: 0 }
      keepLatest(this.#windows, network, window, mostAddresses)
    }
    const beyond = ++window.failures - allowed
    if (beyond <= 0) return undefined
    return {
      retryAfterMs: window.endMs - nowMs,
      delayMs: Math.min(beyond * delayStepMs, longestDelayMs),
    }
  }

  /**
   * Delays a reply.
   *
   * @returns False if too many replies are held back already: this one must be sent at once.
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
}

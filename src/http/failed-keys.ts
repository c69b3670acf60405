/**
 * How many wrong keys each address has sent: beyond a few per minute they are refused as too many.
 *
 * Whoever sends a good key is never looked up here, so one that guesses does no harm to others
 * behind the same address. A plain map and no rate limiter of a package: those answer with a
 * promise, while a key is judged on the spot, and keep a timer for each address, however many
 * there are.
 *
 * @module
 */

import { OiError } from '../errors.js'

/** Wrong keys in a window that are answered as what they are. */
const allowed = 20
const windowMs = 60_000

/** Beyond it the oldest is forgotten: a bound on memory, not on anybody's patience. */
const mostAddresses = 10_000

/** The first half of an IPv6 address as the transport writes it: what one household is given. */
const networkLength = '0000:0000:0000:0000'.length

interface Window {
  readonly endMs: number
  failures: number
}

export class FailedKeys {
  /** In the order in which the windows began. */
  readonly #windows = new Map<string, Window>()

  /** Addresses that are remembered. */
  get size(): number {
    return this.#windows.size
  }

  /**
   * Counts a wrong key.
   *
   * @param address - Where it came from.
   * @param nowMs - On the clock of `performance.now()`.
   * @throws {@link OiError} `ERR_RATE_LIMIT` if there were too many within the minute, with the
   *   time until it is over.
   */
  count(address: string, nowMs = performance.now()): void {
    const network = address.includes(':') ? address.slice(0, networkLength) : address
    let window = this.#windows.get(network)
    if (window === undefined || window.endMs <= nowMs) {
      window = { endMs: nowMs + windowMs, failures: 0 }
      this.#begin(network, window)
    }
    if (++window.failures <= allowed) return
    throw new OiError(
      'ERR_RATE_LIMIT',
      `More than ${allowed} wrong API keys came from ${address} within a minute: ` +
        'a valid key is still accepted',
      { retryAfterMs: window.endMs - nowMs },
    )
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

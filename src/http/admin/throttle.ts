/**
 * How often a password may be tried.
 *
 * Rules
 *   1. A try counts as a failure from its beginning until it has succeeded: many at the same time
 *      are no way around.
 *   2. Behind some failures each further try of an address has to wait twice as long as the one
 *      before, a minute at most, from the moment at which the last has failed. What has to wait is
 *      refused, and costs no hash.
 *   3. All addresses together have so many failures in a minute. One that has signed in before is
 *      not held up by that: whoever guesses from everywhere locks nobody out.
 *
 * @module
 */

import { networkOf } from '../access/client-address.js'

const freeFailures = 5
const firstWaitMs = 2000
const longestWaitMs = 60_000
/** A failure of so long ago is forgotten. */
const memoryMs = 3_600_000

const mostInTotal = 30
const totalWindowMs = 60_000

/** Beyond it the oldest are forgotten: a bound on memory. */
const mostRemembered = 10_000

interface Failures {
  count: number
  /** When the next try is let in. */
  nextMs: number
  lastMs: number
}

export class Throttle {
  /** By network; whoever failed last is last. */
  readonly #failures = new Map<string, Failures>()
  /** Networks that have signed in. */
  readonly #known = new Set<string>()
  #total = 0
  #totalEndMs = 0

  /**
   * Begins a try.
   *
   * @param nowMs - On the clock of `performance.now()`.
   * @returns 0, or how long it has to wait, milliseconds: then it may not be made.
   */
  begin(address: string, nowMs = performance.now()): number {
    const network = networkOf(address)
    const before = this.#failures.get(network)
    const known = before && nowMs - before.lastMs < memoryMs ? before : undefined
    if (known !== undefined && known.nextMs > nowMs) return known.nextMs - nowMs
    if (nowMs >= this.#totalEndMs) {
      this.#total = 0
      this.#totalEndMs = nowMs + totalWindowMs
    }
    if (!this.#known.has(network)) {
      if (this.#total >= mostInTotal) return this.#totalEndMs - nowMs
      this.#total++
    }
    const count = (known?.count ?? 0) + 1
    const entry = { count, nextMs: nowMs + waitOf(count), lastMs: nowMs }
    remember(this.#failures, network, entry)
    return 0
  }

  /** The try was wrong: the wait begins now. */
  fail(address: string, nowMs = performance.now()): void {
    const entry = this.#failures.get(networkOf(address))
    if (entry !== undefined) entry.nextMs = nowMs + waitOf(entry.count)
  }

  /** The try was right. */
  succeed(address: string): void {
    const network = networkOf(address)
    this.#failures.delete(network)
    if (this.#known.has(network)) return
    this.#total = Math.max(0, this.#total - 1)
    if (this.#known.size >= mostRemembered) this.#known.clear()
    this.#known.add(network)
  }
}

function waitOf(count: number): number {
  const waitMs = count < freeFailures ? 0 : firstWaitMs * 2 ** (count - freeFailures)
  return Math.min(waitMs, longestWaitMs)
}

function remember(failures: Map<string, Failures>, network: string, entry: Failures): void {
  // Deleted first: an entry that is only replaced would keep its old place.
  failures.delete(network)
  if (failures.size >= mostRemembered) failures.delete(failures.keys().next().value!)
  failures.set(network, entry)
}

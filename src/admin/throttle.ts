/**
 * Rate limit of password attempts.
 *
 * Rules
 *   1. A try counts as a failure from its beginning until it succeeds: concurrent tries cannot
 *      evade the limit.
 *   2. After some failures, each further try of an address must wait twice as long as the one
 *      before, at most a minute, from the moment of the last failure. A try that must wait is
 *      refused, and costs no hash.
 *   3. All addresses together have a limit of failures per minute. An address that has signed in
 *      before is exempt: guessing from many addresses locks nobody out.
 *   4. A browser that has signed in before is counted by itself, by a cookie of its own: guesses of
 *      others at its address, such as other users of the machine, do not make it wait.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { networkOf } from '../http/access/client-address.js'
import { keepLatest } from '../http/access/keep-latest.js'

const freeFailures = 5
const firstWaitMs = 2000
const longestWaitMs = 60_000
/** After this time a failure is forgotten. */
const memoryMs = 3_600_000

const mostInTotal = 30
const totalWindowMs = 60_000

/** Beyond it the oldest failures are forgotten: a bound on memory. */
const mostRemembered = 10_000

interface Failures {
  count: number
  /** When the next try is allowed. */
  nextMs: number
  lastMs: number
}

export class Throttle {
  /** By network or browser; the latest failure is last. */
  readonly #failures = new Map<string, Failures>()
  /** Networks that have signed in before. */
  readonly #known = new Set<string>()
  /** Browsers that have signed in before (rule 4). */
  readonly #browsers = new Set<string>()
  #total = 0
  #totalEndMs = 0

  /** Who tries, for the other methods. @param browser - The value of the cookie of rule 4. */
  whoIs(address: string, browser: string | undefined): string {
    return browser !== undefined && this.#browsers.has(browser) ? browser : networkOf(address)
  }

  /** Notes a browser that has signed in. @returns The value of its cookie. */
  remember(browser: string | undefined): string {
    if (browser !== undefined && this.#browsers.has(browser)) return browser
    if (this.#browsers.size >= mostRemembered) this.#browsers.clear()
    const made = randomBytes(32).toString('base64url')
    this.#browsers.add(made)
    return made
  }

  /**
   * Begins a try.
   *
   * @param who - Of {@link whoIs}. @param nowMs - On the clock of `performance.now()`.
   * @returns 0, or how long the try must wait, milliseconds: it may not be made now.
   */
  begin(who: string, nowMs = performance.now()): number {
    const before = this.#failures.get(who)
    const known = before && nowMs - before.lastMs < memoryMs ? before : undefined
    if (known !== undefined && known.nextMs > nowMs) return known.nextMs - nowMs
    if (nowMs >= this.#totalEndMs) {
      this.#total = 0
      this.#totalEndMs = nowMs + totalWindowMs
    }
    if (!this.#known.has(who) && !this.#browsers.has(who)) {
      if (this.#total >= mostInTotal) return this.#totalEndMs - nowMs
      this.#total++
    }
    const count = (known?.count ?? 0) + 1
    const entry = { count, nextMs: nowMs + waitOf(count), lastMs: nowMs }
    keepLatest(this.#failures, who, entry, mostRemembered)
    return 0
  }

  /** The password was wrong: the wait begins now. */
  fail(who: string, nowMs = performance.now()): void {
    const entry = this.#failures.get(who)
    if (entry !== undefined) entry.nextMs = nowMs + waitOf(entry.count)
  }

  /** The password was right. */
  succeed(who: string): void {
    this.#failures.delete(who)
    if (this.#known.has(who) || this.#browsers.has(who)) return
    this.#total = Math.max(0, this.#total - 1)
    if (this.#known.size >= mostRemembered) this.#known.clear()
    this.#known.add(who)
  }
}

function waitOf(count: number): number {
  const waitMs = count < freeFailures ? 0 : firstWaitMs * 2 ** (count - freeFailures)
  return Math.min(waitMs, longestWaitMs)
}

/**
 * Counts requests over the last 60 seconds.
 *
 * A sliding window of admission times, since the limit is for any 60 seconds: counters that restart
 * each minute, as libraries keep them, admit twice as many around the restart, and so do token
 * buckets.
 *
 * Requests of the same millisecond share an entry with the time of the last one, so there are at
 * most 60,000 entries whatever the limit, and none leaves too early.
 *
 * @module
 */

export const windowMs = 60_000

/** How many entries that have left may stay before the others. */
const compactAt = 1024

export class RequestWindow {
  /** Times, ascending, and the number of requests of each; both begin at `#first`. */
  #times: number[] = []
  #counts: number[] = []
  #first = 0
  #used = 0

  /**
   * Takes `count` requests, all or none.
   *
   * @param limit - The most that the window may hold; at least `count`.
   * @param nowMs - On any monotonic clock.
   * @returns 0 if they were taken, else the milliseconds until they could be: more than 0, at most
   *   60,000.
   */
  take(count: number, limit: number, nowMs: number): number {
    this.#expire(nowMs)
    if (this.#used + count > limit) return this.#waitMs(this.#used + count - limit, nowMs)
    const last = this.#times.length - 1
    if (last >= this.#first && Math.floor(this.#times[last]!) === Math.floor(nowMs)) {
      this.#times[last] = nowMs
      this.#counts[last]! += count
    } else {
      this.#times.push(nowMs)
      this.#counts.push(count)
    }
    this.#used += count
    return 0
  }

  /** Takes back the newest request that is still counted. */
  giveBack(): void {
    const last = this.#times.length - 1
    if (last < this.#first) return
    this.#used--
    if (--this.#counts[last]! > 0) return
    this.#times.pop()
    this.#counts.pop()
  }

  /** The number of requests admitted during the 60 seconds before `nowMs`. */
  used(nowMs: number): number {
    this.#expire(nowMs)
    return this.#used
  }

  /** The milliseconds until the window is empty, if nothing more is taken. */
  emptyInMs(nowMs: number): number {
    this.#expire(nowMs)
    return this.#used === 0 ? 0 : windowMs - (nowMs - this.#times.at(-1)!)
  }

  /** The time until `excess` requests have left. */
  #waitMs(excess: number, nowMs: number): number {
    let i = this.#first
    for (let left = this.#counts[i]!; left < excess; left += this.#counts[i]!) i++
    // Computed in the same order as in #expire(): rounding must not give 0.
    return windowMs - (nowMs - this.#times[i]!)
  }

  #expire(nowMs: number): void {
    while (this.#first < this.#times.length && nowMs - this.#times[this.#first]! >= windowMs) {
      this.#used -= this.#counts[this.#first]!
      this.#first++
    }
    // All at once and rarely: an entry costs two steps, however many there are.
    if (this.#first >= compactAt && 2 * this.#first >= this.#times.length) {
      this.#times.splice(0, this.#first)
      this.#counts.splice(0, this.#first)
      this.#first = 0
    }
  }
}

/**
 * Counts requests over the last 60 seconds.
 *
 * A sliding window of the times at which requests were let in, since the promise is about any 60
 * seconds: counters that start anew each minute, as libraries for this keep them, let in twice as
 * many around the moment at which they do, and buckets that are filled steadily as well.
 *
 * Requests of the same millisecond share an entry with the time of the last of them, so there are
 * at most 60,000 entries whatever the limit is, and none leaves too early.
 *
 * @module
 */

export const windowMs = 60_000

/** How many entries that have left may lie before the others. */
const compactAt = 1024

export class RequestWindow {
  /** Times, ascending, and how many requests each stands for; both begin at `#first`. */
  #times: number[] = []
  #counts: number[] = []
  #first = 0
  #used = 0

  /**
   * Takes `count` requests, all or none.
   *
   * @param limit - How many the window may hold, `count` or more.
   * @param nowMs - On any clock that never goes back.
   * @returns 0 if they were taken, else after how many milliseconds they could be: more than 0, at
   *   most 60,000.
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

  /** Takes back the newest of those that were let in and are still counted. */
  giveBack(): void {
    const last = this.#times.length - 1
    if (last < this.#first) return
    this.#used--
    if (--this.#counts[last]! > 0) return
    this.#times.pop()
    this.#counts.pop()
  }

  /** How many requests were let in during the 60 seconds before `nowMs`. */
  used(nowMs: number): number {
    this.#expire(nowMs)
    return this.#used
  }

  /** After how many milliseconds the window will be empty, if nothing more is taken. */
  emptyInMs(nowMs: number): number {
    this.#expire(nowMs)
    return this.#used === 0 ? 0 : windowMs - (nowMs - this.#times.at(-1)!)
  }

  /** Until as many as `excess` requests have left. */
  #waitMs(excess: number, nowMs: number): number {
    let i = this.#first
    for (let left = this.#counts[i]!; left < excess; left += this.#counts[i]!) i++
    // In this order, as in #expire(): rounding must not make 0 of it.
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

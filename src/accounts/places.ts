/**
 * Counts requests at the same time, and predicts when one of them will end.
 *
 * @module
 */

/** The weight of the newest interval in the mean. */
const weight = 1 / 8

export class Places {
  #taken = 0
  /** The mean time between two departures while places were taken, once there were any. */
  #intervalMs: number | undefined
  /** When the current interval began: the last departure, or the arrival that ended an idle time. */
  #sinceMs = 0

  get taken(): number {
    return this.#taken
  }

  /**
   * Takes a place.
   *
   * @param limit - How many there are; 0: any number.
   * @param nowMs - On any clock that never goes back.
   * @returns False if all are taken.
   */
  enter(limit: number, nowMs: number): boolean {
    if (limit > 0 && this.#taken >= limit) return false
    if (this.#taken++ === 0) this.#sinceMs = nowMs
    return true
  }

  leave(nowMs: number): void {
    this.#taken--
    const intervalMs = nowMs - this.#sinceMs
    this.#sinceMs = nowMs
    this.#intervalMs ??= intervalMs
    this.#intervalMs += weight * (intervalMs - this.#intervalMs)
  }

  /** In how many milliseconds a place is likely to be free; undefined if nothing is known. */
  get freeInMs(): number | undefined {
    return this.#intervalMs
  }
}

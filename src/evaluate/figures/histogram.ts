/**
 * A histogram of values in constant memory.
 *
 * Bounds of buckets grow by a fixed ratio, so the relative error of a quantile is about one per
 * cent.
 *
 * @module
 */

/** Ratio of a bucket's upper bound to its lower bound: 32 buckets for each doubling. */
const bucketsPerDoubling = 32

export interface Column {
  readonly from: number
  readonly to: number
  readonly count: number
}

export interface Quantiles {
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export class LogHistogram {
  readonly #least: number
  readonly #counts: Uint32Array
  #count = 0
  #sum = 0
  #min = Infinity
  #max = -Infinity

  /**
   * @param least - Above 0. Smaller values, 0 too, share the first bucket.
   * @param greatest - Larger values share the last bucket.
   */
  constructor(least: number, greatest: number) {
    this.#least = least
    const doublings = Math.log2(greatest / least)
    this.#counts = new Uint32Array(Math.ceil(doublings * bucketsPerDoubling) + 1)
  }

  /** @param value - From 0; NaN is ignored. */
  add(value: number): void {
    if (!(value >= 0)) return
    const bucket = Math.floor(Math.log2(value / this.#least) * bucketsPerDoubling)
    this.#counts[Math.min(this.#counts.length - 1, Math.max(0, bucket))]!++
    this.#count++
    this.#sum += value
    if (value < this.#min) this.#min = value
    if (value > this.#max) this.#max = value
  }

  /** NaN without values. */
  get mean(): number {
    return this.#count === 0 ? NaN : this.#sum / this.#count
  }

  /**
   * The smallest value that a share of all values does not exceed, within the width of a bucket.
   *
   * @param share - 0 to 1.
   * @returns NaN without values.
   */
  quantile(share: number): number {
    if (this.#count === 0) return NaN
    const rank = Math.max(1, Math.ceil(share * this.#count))
    if (rank === this.#count) return this.#max
    let bucket = 0
    for (let seen = this.#counts[0]!; seen < rank; seen += this.#counts[bucket]!) bucket++
    const middle = Math.sqrt(this.#bound(bucket) * this.#bound(bucket + 1))
    // Least and greatest value are exact, and the only facts about values outside the buckets.
    return Math.min(this.#max, Math.max(this.#min, middle))
  }

  quantiles(): Quantiles {
    return {
      mean: this.mean,
      p50: this.quantile(0.5),
      p90: this.quantile(0.9),
      p95: this.quantile(0.95),
      p99: this.quantile(0.99),
      max: this.#count === 0 ? NaN : this.#max,
    }
  }

  /** Bars for a plot with a logarithmic axis, from the first to the last non-empty bucket. */
  columns(most: number): Column[] {
    const first = this.#counts.findIndex((count) => count > 0)
    if (first === -1) return []
    const last = this.#counts.findLastIndex((count) => count > 0)
    const merged = Math.ceil((last - first + 1) / most)
    const columns: Column[] = []
    for (let at = first; at <= last; at += merged) {
      let count = 0
      for (const each of this.#counts.subarray(at, at + merged)) count += each
      columns.push({ from: this.#bound(at), to: this.#bound(at + merged), count })
    }
    return columns
  }

  #bound(bucket: number): number {
    return this.#least * 2 ** (bucket / bucketsPerDoubling)
  }
}

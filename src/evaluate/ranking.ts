/**
 * How well a probability of yes tells the yeses from the noes, whatever the threshold.
 *
 * @module
 */

/** Buckets of equal width over the log-odds; what lies outside shares the first or the last. */
const mostLogOdds = 20
const bucketCount = 2000

/** Memory does not grow with the number of values: those of one bucket count as equal. */
export class Ranking {
  readonly #yes = new Uint32Array(bucketCount)
  readonly #no = new Uint32Array(bucketCount)

  /** @param probability - Of yes, 0 to 1. */
  add(probability: number, right: boolean): void {
    const logOdds = Math.log(probability / (1 - probability))
    const share = (logOdds + mostLogOdds) / (2 * mostLogOdds)
    const bucket = Math.min(bucketCount - 1, Math.max(0, Math.floor(share * bucketCount)))
    const counts = right ? this.#yes : this.#no
    counts[bucket]!++
  }

  /**
   * Area under the ROC curve: the probability that a yes is given more than a no, ties half.
   *
   * @returns 0 to 1; NaN unless there are both.
   */
  area(): number {
    let noes = 0
    let yeses = 0
    let pairs = 0
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      const [yes, no] = [this.#yes[bucket]!, this.#no[bucket]!]
      pairs += yes * (noes + no / 2)
      yeses += yes
      noes += no
    }
    return pairs / (yeses * noes)
  }
}

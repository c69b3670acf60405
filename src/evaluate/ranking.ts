/**
 * How well a probability of yes separates yeses from noes, independent of a threshold.
 *
 * @module
 */

/** Buckets of equal width over the log-odds; values outside fall into the first or the last. */
const mostLogOdds = 20
const bucketCount = 2000

/** Constant memory: the values of one bucket count as equal. */
export class Ranking {
  readonly #yes = new Uint32Array(bucketCount)
  readonly #no = new Uint32Array(bucketCount)

  /** @param probability - Probability of yes, 0 to 1. */
  add(probability: number, right: boolean): void {
    const logOdds = Math.log(probability / (1 - probability))
    const share = (logOdds + mostLogOdds) / (2 * mostLogOdds)
    const bucket = Math.min(bucketCount - 1, Math.max(0, Math.floor(share * bucketCount)))
    const counts = right ? this.#yes : this.#no
    counts[bucket]!++
  }

  /**
   * Area under the ROC curve: the probability that a yes gets a higher value than a no; ties count
   * half.
   *
   * @returns 0 to 1; NaN unless there are yeses and noes.
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

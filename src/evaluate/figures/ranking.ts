/**
 * Answers in the order of a probability, whatever their number.
 *
 * @module
 */

/** So many answers are kept one by one; more are counted in buckets. */
const mostExact = 10_000
/** Buckets of equal width over the log-odds; values outside fall into the first or the last. */
const mostLogOdds = 20
const bucketCount = 2000

/** The answers of one probability. */
export interface Step {
  readonly probability: number
  /** Answers of which it holds, and of which not. */
  readonly yes: number
  readonly no: number
}

/** Memory: some 100 KB. Beyond 10,000 answers, those of one bucket count as equal. */
export class Ranking {
  readonly #yes: number[] = []
  readonly #no: number[] = []
  #buckets: { readonly yes: Uint32Array; readonly no: Uint32Array } | undefined

  /** @param probability - 0 to 1. @param holds - Whether what it is the probability of is so. */
  add(probability: number, holds: boolean): void {
    if (this.#buckets === undefined) {
      ;(holds ? this.#yes : this.#no).push(probability)
      if (this.#yes.length + this.#no.length > mostExact) this.#beginBuckets()
    } else this.#buckets[holds ? 'yes' : 'no'][bucketOf(probability)]!++
  }

  /** From the largest probability down, each once. */
  steps(): Step[] {
    const counts = new Map<number, { yes: number; no: number }>()
    const count = (probability: number, name: 'yes' | 'no', more: number) => {
      const at = counts.get(probability) ?? { yes: 0, no: 0 }
      at[name] += more
      counts.set(probability, at)
    }
    for (const probability of this.#yes) count(probability, 'yes', 1)
    for (const probability of this.#no) count(probability, 'no', 1)
    for (const name of ['yes', 'no'] as const) {
      this.#buckets?.[name].forEach((more, bucket) => {
        if (more > 0) count(beginningOf(bucket), name, more)
      })
    }
    const steps = [...counts].map(([probability, at]) => ({ probability, ...at }))
    return steps.sort((a, b) => b.probability - a.probability)
  }

  #beginBuckets(): void {
    const buckets = { yes: new Uint32Array(bucketCount), no: new Uint32Array(bucketCount) }
    for (const probability of this.#yes.splice(0)) buckets.yes[bucketOf(probability)]!++
    for (const probability of this.#no.splice(0)) buckets.no[bucketOf(probability)]!++
    this.#buckets = buckets
  }
}

function bucketOf(probability: number): number {
  const logOdds = Math.log(probability / (1 - probability))
  const share = (logOdds + mostLogOdds) / (2 * mostLogOdds)
  return Math.min(bucketCount - 1, Math.max(0, Math.floor(share * bucketCount)))
}

/** The least probability of a bucket. */
function beginningOf(bucket: number): number {
  const logOdds = (bucket / bucketCount) * 2 * mostLogOdds - mostLogOdds
  return 1 / (1 + Math.exp(-logOdds))
}

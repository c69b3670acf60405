/**
 * Sums over the answers of a batch.
 *
 * @module
 */

import type { Decision, Timings, Usage } from '../../decide/types.js'

export class BatchTotals {
  readonly #usage: Record<string, number> & Usage = {
    input_tokens: 0,
    output_tokens: 0,
  }
  #cachedTokens = 0
  readonly #longest = { queue: 0, tokenize: 0, vision: 0 }
  readonly #startMs = performance.now()
  #endMs = this.#startMs

  /** Adds an item that has just been answered. */
  add({ usage, cached_tokens, timings }: Decision): void {
    this.#cachedTokens += cached_tokens
    for (const [name, count] of Object.entries(usage) as [string, number][]) {
      this.#usage[name] = (this.#usage[name] ?? 0) + count
    }
    for (const name of ['queue', 'tokenize', 'vision'] as const) {
      this.#longest[name] = Math.max(this.#longest[name], timings[name])
    }
    this.#endMs = performance.now()
  }

  get usage(): Usage {
    return this.#usage
  }

  get cached_tokens(): number {
    return this.#cachedTokens
  }

  /** The two members of the response body, without braces. */
  get text(): string {
    return `"usage":${JSON.stringify(this.#usage)},"latency_ms":${this.#modelMs}`
  }

  /** The longest of each kind of waiting, and the total time with the model. */
  get timings(): Timings {
    return { ...this.#longest, model: this.#modelMs }
  }

  /**
   * From the first item that was handed over to the last answer. Items are evaluated together: a
   * sum of their times would count the same steps many times.
   */
  get #modelMs(): number {
    return Math.round((this.#endMs - this.#startMs) * 1000) / 1000
  }
}

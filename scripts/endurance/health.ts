/**
 * The time of `/healthz`, asked all the time on its own connection.
 *
 * @module
 */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ProbeData, ProbeSample } from './health-worker.js'

const everyMs = 20

export class HealthProbe {
  readonly #worker: Worker
  /** Times without an expected answer; the last one may not be over yet. */
  readonly #pauses: { readonly from: number; until: number }[] = []
  #samples: readonly ProbeSample[] = []

  /** Begins to ask. */
  constructor(port: number) {
    const data: ProbeData = { port, everyMs }
    this.#worker = new Worker(new URL('health-worker.js', import.meta.url), { workerData: data })
  }

  /** No answer is expected until {@link resume}: the server is stopped and started. */
  pause(): void {
    this.#pauses.push({ from: now(), until: Infinity })
  }

  resume(): void {
    this.#pauses.at(-1)!.until = now()
  }

  /** Ends it; the following figures are known only then. */
  async stop(): Promise<void> {
    const said = once(this.#worker, 'message')
    this.#worker.postMessage('stop')
    const [samples] = (await said) as [ProbeSample[]]
    await this.#worker.terminate()
    this.#samples = samples.filter(
      ({ askedAtMs, ms }) =>
        !this.#pauses.some(({ from, until }) => askedAtMs < until && askedAtMs + ms > from),
    )
  }

  get count(): number {
    return this.#samples.length
  }

  /** Missing answers that were expected, by their outcome. */
  get failures(): ReadonlyMap<string, number> {
    const failures = new Map<string, number>()
    for (const { status, end } of this.#samples) {
      if (status !== 200) failures.set(end, (failures.get(end) ?? 0) + 1)
    }
    return failures
  }

  /** Milliseconds within which a share of the answers came. @param share - From 0 to 1. */
  quantile(share: number): number {
    const sorted = this.#samples.map(({ ms }) => ms).sort((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
  }
}

function now(): number {
  return performance.timeOrigin + performance.now()
}

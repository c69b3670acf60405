/**
 * How long `/healthz` takes, asked all the time on a connection of its own.
 *
 * @module
 */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ProbeData, ProbeSample } from './health-worker.js'

const everyMs = 20

export class HealthProbe {
  readonly #worker: Worker
  /** Times in which nobody expects an answer; the last one may not be over yet. */
  readonly #pauses: { readonly from: number; until: number }[] = []
  #samples: readonly ProbeSample[] = []

  /** Begins to ask. */
  constructor(port: number) {
    const data: ProbeData = { port, everyMs }
    this.#worker = new Worker(new URL('health-worker.js', import.meta.url), { workerData: data })
  }

  /** Nothing is expected until {@link resume}: the server is stopped and started. */
  pause(): void {
    this.#pauses.push({ from: now(), until: Infinity })
  }

  resume(): void {
    this.#pauses.at(-1)!.until = now()
  }

  /** Ends it; what follows is known only then. */
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

  /** Answers that were expected and did not come, by what came instead. */
  get failures(): ReadonlyMap<string, number> {
    const failures = new Map<string, number>()
    for (const { status, end } of this.#samples) {
      if (status !== 200) failures.set(end, (failures.get(end) ?? 0) + 1)
    }
    return failures
  }

  /** Milliseconds below which a share of the answers came. @param share - From 0 to 1. */
  quantile(share: number): number {
    const sorted = this.#samples.map(({ ms }) => ms).sort((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
  }
}

function now(): number {
  return performance.timeOrigin + performance.now()
}

/**
 * The time of `/healthz`, asked all the time on its own connection.
 *
 * @module
 */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Child } from '../bench/child.js'
import { percentile } from '../bench/stats.js'
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

  /** The number of answers and their times, for people. */
  get line(): string {
    const ms = [0.5, 0.99, 0.999, 1].map((share) => this.quantile(share).toFixed(1))
    return `${this.count} answers, ms at p50, p99, p99.9, most: ${ms.join(', ')}`
  }

  /** Milliseconds within which a share of the answers came. @param share - From 0 to 1. */
  quantile(share: number): number {
    const times = this.#samples.map(({ ms }) => ms)
    return times.length === 0 ? NaN : percentile(times, share)
  }
}

/** A server that does nothing: what it takes to ask it is the machine's own delay. */
export class IdleServer implements AsyncDisposable {
  readonly #child = new Child(process.execPath, ['--eval', idleProgram])

  async probe(): Promise<HealthProbe> {
    const [, port] = await this.#child.match(/port (\d+)/)
    return new HealthProbe(Number(port))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.stop()
  }
}

const idleProgram = `
const server = require('node:http').createServer((_, reply) => reply.end('ok'))
server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port))`

function now(): number {
  return performance.timeOrigin + performance.now()
}

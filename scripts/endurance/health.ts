/**
 * How long `/healthz` takes, asked all the time on a connection of its own.
 *
 * @module
 */

import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { exchange } from './exchange.js'

const everyMs = 20

export class HealthProbe {
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #ms: number[] = []
  /** While the server is being stopped and started nobody expects an answer. */
  expected = true
  /** Answers that were expected and did not come, by what came instead. */
  readonly failures = new Map<string, number>()

  constructor(port: number) {
    this.#port = port
  }

  async run(over: () => boolean): Promise<void> {
    while (!over()) {
      const expected = this.expected
      const startMs = performance.now()
      const { status, end } = await exchange({
        ...{ port: this.#port, agent: this.#agent, method: 'GET', path: '/healthz' },
      })
      if (expected && this.expected) {
        if (status === 200) this.#ms.push(performance.now() - startMs)
        else this.failures.set(end, (this.failures.get(end) ?? 0) + 1)
      }
      await sleep(everyMs)
    }
  }

  get count(): number {
    return this.#ms.length
  }

  /** Milliseconds below which a share of the answers came. @param share - From 0 to 1. */
  quantile(share: number): number {
    const sorted = [...this.#ms].sort((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
  }
}

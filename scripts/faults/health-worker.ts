/**
 * Asks `/healthz` all the time, on its own thread: other work of its process must not look like a
 * slow server.
 *
 * @module
 */

import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { exchange } from './exchange.js'

/** Input of the thread. */
export interface ProbeData {
  readonly port: number
  readonly everyMs: number
}

/** The outcome of one request, and its time: milliseconds of `performance.timeOrigin`. */
export interface ProbeSample {
  readonly askedAtMs: number
  readonly ms: number
  readonly status: number
  readonly end: string
}

const { port, everyMs } = workerData as ProbeData
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const samples: ProbeSample[] = []
let over = false
parentPort!.once('message', () => (over = true))
while (!over) {
  const startMs = performance.now()
  const { status, end } = await exchange({ port, agent, method: 'GET', path: '/healthz' })
  const ms = performance.now() - startMs
  samples.push({ askedAtMs: performance.timeOrigin + startMs, ms, status, end })
  await sleep(everyMs)
}
agent.destroy()
parentPort!.postMessage(samples)

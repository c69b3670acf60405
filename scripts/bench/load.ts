/**
 * A load generator: prepared bytes over raw sockets, so that the client costs little beside the
 * server.
 *
 * Closed loop: each connection sends its next request when the last one is answered; the result
 * is the peak rate. Open loop: requests begin on a fixed schedule, and a latency counts from the
 * intended start, so a server that stalls pays for everything that had to wait (no coordinated
 * omission).
 *
 * @module
 */

import { broken, Connection, type Reply } from './connection.js'
import { percentile } from './stats.js'

export interface Target {
  readonly port: number
  readonly connections: number
  /** The next whole request, head and body; undefined ends the load. */
  readonly next: () => Buffer | undefined
  /** Called with each reply; latency as in {@link LoadResult}. */
  readonly onReply?: (reply: Reply, latencyMs: number) => void
}

export interface LoadResult {
  readonly requests: number
  /** Replies with another status than 200, and broken connections. */
  readonly failures: number
  readonly elapsedMs: number
  readonly requestsPerSecond: number
  readonly latencyMs: { readonly p50: number; p90: number; p99: number; p999: number; max: number }
}

/** Every connection always has one request under way. */
export function closedLoop(target: Target): Promise<LoadResult> {
  return load(target)
}

/** @param rate - Requests per second, at equal distances. */
export function openLoop(target: Target, rate: number): Promise<LoadResult> {
  return load(target, rate)
}

async function load(
  { port, connections, next, onReply }: Target,
  rate?: number,
): Promise<LoadResult> {
  const latencies: number[] = []
  let failures = 0
  let begun = 0
  return Connection.withPool(port, connections, async (pool) => {
    const startMs = performance.now()
    await Promise.all(
      pool.map(async (connection) => {
        for (let request = next(); request !== undefined; request = next()) {
          let intendedMs = performance.now()
          if (rate !== undefined) {
            // A late one is sent at once, and its latency includes the delay.
            intendedMs = startMs + (begun++ / rate) * 1000
            await until(intendedMs)
          }
          const reply = await connection.exchange(request).catch(() => broken)
          const latencyMs = performance.now() - intendedMs
          latencies.push(latencyMs)
          if (reply.status !== 200) failures++
          onReply?.(reply, latencyMs)
        }
      }),
    )
    return summarize(latencies, failures, performance.now() - startMs)
  })
}

/** A source of requests for a time, which begins now. */
export function during(seconds: number, make: () => Buffer): () => Buffer | undefined {
  const endMs = performance.now() + seconds * 1000
  return () => (performance.now() < endMs ? make() : undefined)
}

/** A source that yields each of these once. */
export function eachOf<T>(all: readonly T[]): () => T | undefined {
  let at = 0
  return () => all[at++]
}

/** A source of this many requests, each made when it is due. */
export function times<T>(count: number, make: () => T): () => T | undefined {
  let left = count
  return () => (left-- > 0 ? make() : undefined)
}

/** Timers have whole milliseconds; turns of the event loop wait for the rest. */
async function until(ms: number): Promise<void> {
  const delayMs = ms - performance.now()
  if (delayMs > 2) await new Promise((resolve) => setTimeout(resolve, delayMs - 2))
  while (performance.now() < ms) await new Promise((resolve) => setImmediate(resolve))
}

function summarize(latencies: number[], failures: number, elapsedMs: number): LoadResult {
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number) =>
    sorted.length === 0 ? 0 : Math.round(percentile(sorted, share) * 1e3) / 1e3
  return {
    requests: sorted.length,
    failures,
    elapsedMs,
    requestsPerSecond: Math.round((sorted.length / elapsedMs) * 1000),
    latencyMs: { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1) },
  }
}

/**
 * A load generator: prepared bytes over raw sockets, so that the client costs little beside the
 * server.
 *
 * Closed loop: each connection sends its next request when the last one is answered; the result
 * is the peak rate. Open loop: requests begin on a fixed schedule, and a latency counts from the
 * intended start, so a server that stalls pays for everything that had to wait (no coordinated
 * omission).
 *
 * As a module: `closedLoop`, `openLoop`. In its own process, printing JSON:
 *
 *     node dist/scripts/bench/load.js --port 8080 --key oi-… --body body.json
 *       [--connections 32] [--seconds 5] [--rate 10000]
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

export interface Target {
  readonly port: number
  readonly connections: number
  /** One whole request, head and body. */
  readonly request: Buffer
  readonly seconds: number
}

export interface LoadResult {
  readonly requests: number
  /** Replies with another status than 200. */
  readonly failures: number
  readonly requestsPerSecond: number
  readonly latencyMs: { readonly p50: number; p90: number; p99: number; p999: number; max: number }
}

/** A request to /v1/systemone as bytes. */
export function prepareRequest(key: string, body: string): Buffer {
  return Buffer.from(
    `POST /v1/systemone HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** Every connection always has one request under way. */
export async function closedLoop({ port, connections, request, seconds }: Target) {
  const latencies: number[] = []
  let failures = 0
  const startMs = performance.now()
  const endMs = startMs + seconds * 1000
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await Connection.open(port)
      for (let sentMs = performance.now(); sentMs < endMs;) {
        const status = await connection.exchange(request)
        const nowMs = performance.now()
        latencies.push(nowMs - sentMs)
        if (status !== 200) failures++
        sentMs = nowMs
      }
      connection.close()
    }),
  )
  return summarize(latencies, failures, performance.now() - startMs)
}

/** @param rate - Requests per second, begun at equal distances. */
export async function openLoop(target: Target, rate: number): Promise<LoadResult> {
  const { port, connections, request, seconds } = target
  const latencies: number[] = []
  let failures = 0
  const total = Math.round(rate * seconds)
  let next = 0
  const pool = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)))
  const startMs = performance.now()
  const intendedMs = (index: number) => startMs + (index / rate) * 1000
  // A worker takes the next request of the schedule; one that is late sends it at once, and its
  // latency counts the delay.
  await Promise.all(
    pool.map(async (connection) => {
      for (let index = next++; index < total; index = next++) {
        await until(intendedMs(index))
        const status = await connection.exchange(request)
        latencies.push(performance.now() - intendedMs(index))
        if (status !== 200) failures++
      }
      connection.close()
    }),
  )
  return summarize(latencies, failures, performance.now() - startMs)
}

/** Timers have whole milliseconds; the rest is waited out by turns of the event loop. */
async function until(ms: number): Promise<void> {
  const delayMs = ms - performance.now()
  if (delayMs > 2) await new Promise((resolve) => setTimeout(resolve, delayMs - 2))
  while (performance.now() < ms) await new Promise((resolve) => setImmediate(resolve))
}

/** A keep-alive connection with one request under way at a time. */
class Connection {
  readonly #socket: Socket
  #pending: { resolve: (status: number) => void; reject: (error: Error) => void } | undefined
  #received: Buffer | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (data) => this.#take(data))
    socket.on('close', () => this.#pending?.reject(new Error('the server closed a connection')))
    socket.on('error', (error) => this.#pending?.reject(error))
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Connection(socket)))
      socket.once('error', reject)
    })
  }

  /** @returns The reply's status. */
  exchange(request: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(data: Buffer): void {
    const received = this.#received === undefined ? data : Buffer.concat([this.#received, data])
    const headEnd = received.indexOf('\r\n\r\n')
    const head = headEnd < 0 ? '' : received.toString('latin1', 0, headEnd).toLowerCase()
    const field = head.indexOf('content-length: ')
    const length = Number.parseInt(head.slice(field + 16), 10)
    if (headEnd < 0 || received.length < headEnd + 4 + length) {
      this.#received = received
      return
    }
    this.#received = undefined
    const pending = this.#pending
    this.#pending = undefined
    pending?.resolve(Number(head.slice(9, 12)))
  }
}

function summarize(latencies: number[], failures: number, elapsedMs: number): LoadResult {
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number) =>
    Math.round(
      (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) * 1e3,
    ) / 1e3
  return {
    requests: sorted.length,
    failures,
    requestsPerSecond: Math.round((sorted.length / elapsedMs) * 1000),
    latencyMs: { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1) },
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8080' },
      key: { type: 'string' },
      body: { type: 'string' },
      connections: { type: 'string', default: '32' },
      seconds: { type: 'string', default: '5' },
      rate: { type: 'string' },
    },
  })
  if (values.key === undefined || values.body === undefined) {
    throw new Error('--key and --body are needed')
  }
  const target = {
    port: Number(values.port),
    connections: Number(values.connections),
    seconds: Number(values.seconds),
    request: prepareRequest(values.key, readFileSync(values.body, 'utf8')),
  }
  const result =
    values.rate === undefined
      ? await closedLoop(target)
      : await openLoop(target, Number(values.rate))
  process.stdout.write(`${JSON.stringify(result)}\n`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main()

/**
 * The last hour of the server, in memory: what the console's overview draws.
 *
 * Rules
 *   1. Every figure is a difference between two readings of counters that `GET /metrics` has too.
 *   2. Memory is bounded: a ring of {@link mostSlots} slots, each with at most {@link mostModels}
 *      models, and statuses and codes that the server has a fixed number of.
 *   3. A counter that is smaller than at the last reading began anew (a model was reloaded): the
 *      difference is its value.
 *
 * @module
 */

import type { EngineReport } from '../../decide/types.js'
import type { Traffic } from './traffic.js'

export const stepMs = 10_000
export const mostSlots = 360
const mostModels = 32
/** A shorter time is not worth a slot: its rates would be noise. */
const shortestMs = 1000

interface HistorySources {
  readonly traffic: Traffic
  /** Requests and items that wait for a place. */
  readonly waiting: () => number
  readonly engines: () => readonly EngineReport[]
  /** Milliseconds; only differences count. Default: the monotonic clock. */
  readonly now?: () => number
}

/** What a model did in a slot. */
export interface ModelSlot {
  /** Share of the time in which it worked, 0 to 1; with replicas, their mean. */
  readonly busy: number
  /** Requests in its queue at the slot's end. */
  readonly queued: number
}

/** The time between two readings. */
export interface Slot {
  /** Its end, milliseconds since 1970. */
  readonly endMs: number
  readonly seconds: number
  /** Decisions by status: single requests, items of batches, and batches that failed as a whole. */
  readonly statuses: ReadonlyMap<number, number>
  /** Refused decisions by the code of the error. */
  readonly codes: ReadonlyMap<string, number>
  /** Answered single requests by the first bound of {@link Traffic} that their time does not exceed. */
  readonly durations: readonly number[]
  readonly models: ReadonlyMap<string, ModelSlot>
  /** Requests of all models that looked for their state in a cache, and found it or a part of it. */
  readonly lookups: number
  readonly hits: number
  /** Decisions that waited at the slot's end: for a place, and in the queues of the models. */
  readonly waiting: number
}

interface ModelReading {
  engines: number
  busyMs: number
  lookups: number
  hits: number
  queued: number
}

/** The counters at one time. */
interface Reading {
  readonly atMs: number
  readonly statuses: ReadonlyMap<number, number>
  readonly codes: ReadonlyMap<string, number>
  readonly durations: readonly number[]
  readonly models: ReadonlyMap<string, ModelReading>
  readonly waiting: number
}

const decisionRoutes: readonly string[] = ['/v1/systemone', '/v1/decisions']
const batchRoute = '/v1/systemone/batch'

export class History {
  readonly #sources: HistorySources
  readonly #now: () => number
  /** The oldest first. */
  readonly #slots: Slot[] = []
  #last: Reading
  #timer: NodeJS.Timeout | undefined

  constructor(sources: HistorySources) {
    this.#sources = sources
    this.#now = sources.now ?? (() => performance.now())
    this.#last = this.#read()
  }

  /** Reads the counters from now on, until {@link stop}. Keeps no process alive. */
  start(): void {
    this.#timer ??= setInterval(() => this.record(), stepMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Ends a slot. */
  record(): void {
    const reading = this.#read()
    this.#slots.push(between(this.#last, reading))
    if (this.#slots.length > mostSlots) this.#slots.shift()
    this.#last = reading
  }

  /** The slots, the oldest first; at the end the one that has begun, if it is long enough. */
  slots(): readonly Slot[] {
    const reading = this.#read()
    if (reading.atMs - this.#last.atMs < shortestMs) return [...this.#slots]
    return [...this.#slots, between(this.#last, reading)].slice(-mostSlots)
  }

  /** Decisions that wait now, for a place or for a model. */
  waiting(): number {
    return this.#read().waiting
  }

  #read(): Reading {
    const { traffic, waiting, engines } = this.#sources
    const statuses = new Map<number, number>()
    const add = (status: number, count: number) =>
      statuses.set(status, (statuses.get(status) ?? 0) + count)
    for (const { route, status, count } of traffic.requests()) {
      const isDecision = decisionRoutes.includes(route)
      if (isDecision || (route === batchRoute && status !== 200)) add(status, count)
    }
    for (const { status, count } of traffic.items()) add(status, count)
    const models = modelsIn(engines())
    const queued = [...models.values()].reduce((sum, { queued }) => sum + queued, 0)
    return {
      atMs: this.#now(),
      statuses,
      codes: new Map(traffic.refusals().map(({ code, count }) => [code, count])),
      durations: traffic.durationCounts(),
      models,
      waiting: waiting() + queued,
    }
  }
}

function modelsIn(reports: readonly EngineReport[]): Map<string, ModelReading> {
  const models = new Map<string, ModelReading>()
  for (const { model, stats } of reports) {
    const sums = models.get(model) ?? { engines: 0, busyMs: 0, lookups: 0, hits: 0, queued: 0 }
    const { deviceHits, hostHits, diskHits, missed, queuedRequests, busyMs } = stats
    const hits = deviceHits + hostHits + diskHits
    sums.engines++
    sums.busyMs += busyMs
    sums.hits += hits
    sums.lookups += hits + missed
    sums.queued += queuedRequests
    models.set(model, sums)
  }
  return models
}

function between(before: Reading, after: Reading): Slot {
  const ms = Math.max(1, after.atMs - before.atMs)
  let lookups = 0
  let hits = 0
  const models: [string, ModelSlot][] = []
  for (const [name, now] of after.models) {
    const then = before.models.get(name)
    const busyMs = rise(then?.busyMs, now.busyMs)
    lookups += rise(then?.lookups, now.lookups)
    hits += rise(then?.hits, now.hits)
    models.push([name, { busy: Math.min(1, busyMs / (ms * now.engines)), queued: now.queued }])
  }
  // Rule 2: the busiest ones.
  if (models.length > mostModels) models.sort(([, a], [, b]) => b.busy - a.busy)
  return {
    endMs: Date.now(),
    seconds: ms / 1000,
    statuses: risen(before.statuses, after.statuses),
    codes: risen(before.codes, after.codes),
    durations: after.durations.map((count, i) => count - before.durations[i]!),
    models: new Map(models.slice(0, mostModels)),
    lookups,
    hits,
    waiting: after.waiting,
  }
}

/** Rule 3. */
function rise(before = 0, after: number): number {
  return after >= before ? after - before : after
}

function risen<K>(before: ReadonlyMap<K, number>, after: ReadonlyMap<K, number>): Map<K, number> {
  const changes = [...after].map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const)
  return new Map(changes.filter(([, count]) => count > 0))
}

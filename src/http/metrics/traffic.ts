/**
 * What the server has answered, as plain numbers that `GET /metrics` reads.
 *
 * On the hot path, where prom-client's own counter and histogram showed: 2 to 4 percent of the CPU
 * time of a request in the benchmark layer `front`.
 *
 * @module
 */

import type { Timings } from '../../decide/types.js'
import { routeOf } from '../path.js'

/** Upper bounds of the histogram, milliseconds: from a short prompt on a GPU to a deadline. */
const boundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000]

export class Traffic {
  readonly #routes: ReadonlySet<string>
  /** Requests that ended: route -> status -> how many. */
  readonly #requests = new Map<string, Map<number, number>>()
  /** Items of batches: status -> how many. */
  readonly #items = new Map<number, number>()
  /** Durations by the first bound that they do not exceed; the last are beyond all. */
  readonly #durations = new Array<number>(boundsMs.length + 1).fill(0)
  #durationSumMs = 0
  /** Milliseconds of all decisions that were given. */
  readonly #phases = { queue: 0, tokenize: 0, vision: 0, model: 0 }

  /** @param routes - The paths that are counted by name; all others are counted by area, or as `other`. */
  constructor(routes: readonly string[]) {
    this.#routes = new Set(routes)
  }

  /** Counts a request that ended. @param status - 0 if the client had gone. */
  count(path: string, status: number): void {
    const route = this.#routes.has(path) ? path : this.#areaOf(path)
    let byStatus = this.#requests.get(route)
    if (byStatus === undefined) {
      byStatus = new Map<number, number>()
      this.#requests.set(route, byStatus)
    }
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
  }

  /** Under what paths are counted together. */
  #areaOf(path: string): string {
    const route = routeOf(path)
    if (this.#routes.has(route)) return route
    const [, area] = /^\/(admin|console)(?:\/|$)/.exec(path) ?? []
    return area === undefined ? 'other' : `/${area}`
  }

  /** Counts the result of an item of a batch. */
  countItem(status: number): void {
    this.#items.set(status, (this.#items.get(status) ?? 0) + 1)
  }

  /** Takes the time that an answered decision took. */
  observe(ms: number): void {
    let i = 0
    while (i < boundsMs.length && ms > boundsMs[i]!) i++
    this.#durations[i]!++
    this.#durationSumMs += ms
  }

  /** Takes where the time of a decision went, of a request or of an item. */
  addPhases({ queue, tokenize, vision, model }: Timings): void {
    this.#phases.queue += queue
    this.#phases.tokenize += tokenize
    this.#phases.vision += vision
    this.#phases.model += model
  }

  /** Where the time of all decisions went, milliseconds. */
  phases(): Timings {
    return this.#phases
  }

  /** Requests that ended, by route and status. */
  requests(): { route: string; status: number; count: number }[] {
    return [...this.#requests].flatMap(([route, byStatus]) =>
      [...byStatus].map(([status, count]) => ({ route, status, count })),
    )
  }

  /** Items of batches that have a result, by its status. */
  items(): { status: number; count: number }[] {
    return [...this.#items].map(([status, count]) => ({ status, count }))
  }

  /** The durations as a histogram: for each bound how many do not exceed it. Seconds. */
  durations(): { buckets: { le: number; count: number }[]; sum: number; count: number } {
    let count = 0
    const buckets = [...boundsMs, Infinity].map((bound, i) => ({
      le: bound / 1000,
      count: (count += this.#durations[i]!),
    }))
    return { buckets, sum: this.#durationSumMs / 1000, count }
  }
}

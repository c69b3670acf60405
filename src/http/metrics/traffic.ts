/**
 * Counts the server's replies in plain numbers that `GET /metrics` reads.
 *
 * On the hot path: a metrics library's counter and histogram took 2 to 4 percent of a request's CPU
 * time in the benchmark layer `front`.
 *
 * @module
 */

import type { Timings } from '../../decide/types.js'
import { routeOf } from '../path.js'

/** Upper bounds of the histogram, milliseconds: from a short prompt on a GPU to a deadline. */
export const boundsMs: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000,
]

export class Traffic {
  readonly #routes: ReadonlySet<string>
  /** Requests that ended: route -> status -> count. */
  readonly #requests = new Map<string, Map<number, number>>()
  /** Items of batches: status -> count. */
  readonly #items = new Map<number, number>()
  /** Refused requests to `/v1` and items: the error's code -> count. */
  readonly #refusals = new Map<string, number>()
  /**
   * Number of durations by the first bound that they do not exceed; the last entry is beyond all
   * bounds.
   */
  readonly #durations = new Array<number>(boundsMs.length + 1).fill(0)
  #durationSumMs = 0
  /** Milliseconds of all answered decisions. */
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

  /** The name under which paths are counted together. */
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

  /** Counts the error of a request to `/v1`, or of an item. @param code - As on the wire. */
  countRefusal(code: string): void {
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1)
  }

  /** Adds the duration of an answered decision. */
  observe(ms: number): void {
    let i = 0
    while (i < boundsMs.length && ms > boundsMs[i]!) i++
    this.#durations[i]!++
    this.#durationSumMs += ms
  }

  /** Adds the phases of a decision, of a request or of an item. */
  addPhases({ queue, tokenize, vision, model }: Timings): void {
    this.#phases.queue += queue
    this.#phases.tokenize += tokenize
    this.#phases.vision += vision
    this.#phases.model += model
  }

  /** The phases of all decisions, milliseconds. */
  phases(): Timings {
    return this.#phases
  }

  /** Requests that ended, by route and status. */
  requests(): { route: string; status: number; count: number }[] {
    return [...this.#requests].flatMap(([route, byStatus]) =>
      [...byStatus].map(([status, count]) => ({ route, status, count })),
    )
  }

  /** Items of batches with a result, by status. */
  items(): { status: number; count: number }[] {
    return [...this.#items].map(([status, count]) => ({ status, count }))
  }

  /** Refused requests to `/v1` and items, by the error's code. */
  refusals(): { code: string; count: number }[] {
    return [...this.#refusals].map(([code, count]) => ({ code, count }))
  }

  /** The number of durations in each bucket; one more than there are {@link boundsMs}. */
  durationCounts(): readonly number[] {
    return [...this.#durations]
  }

  /** The durations as a histogram: per bound the number that do not exceed it. Seconds. */
  durations(): { buckets: { le: number; count: number }[]; sum: number; count: number } {
    let count = 0
    const buckets = [...boundsMs, Infinity].map((bound, i) => ({
      le: bound / 1000,
      count: (count += this.#durations[i]!),
    }))
    return { buckets, sum: this.#durationSumMs / 1000, count }
  }
}

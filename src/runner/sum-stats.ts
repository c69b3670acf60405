/**
 * The counters of several engines as those of one.
 *
 * @module
 */

import { noStats, type EngineStats } from '../engine/stats.js'

/** Sums, of rates as well; but they work through what waits side by side, not one by one. */
export function sumStats(all: readonly EngineStats[]): EngineStats {
  const sum: Record<keyof EngineStats, number> = { ...noStats() }
  for (const stats of all) {
    for (const [name, value] of Object.entries(stats)) sum[name as keyof EngineStats] += value
  }
  return { ...sum, backlogMs: Math.max(...all.map(({ backlogMs }) => backlogMs)) }
}

/**
 * The gauges by which pickers choose a server for a request, under the names of vLLM's, which they
 * read without being told: those of the Gateway API Inference Extension, llm-d and KServe.
 *
 * They read one sample of each, whatever its labels, and add nothing up. So each has one, for the
 * whole server.
 *
 * @module
 */

import type { EngineReport } from '../../decide/types.js'
import type { EngineStats } from '../../engine/types.js'
import { gauge, type MetricRow } from './metric-row.js'

interface Picked {
  readonly engines: readonly EngineStats[]
  /** Requests that wait for a place, before any engine. */
  readonly waiting: number
}

export const pickerMetrics: readonly MetricRow<Picked>[] = [
  gauge(
    'vllm:num_requests_waiting',
    'Requests that wait for a place or for a step of their model',
    ({ engines, waiting }) =>
      sum(engines, ({ queuedRequests, runningRequests }) => queuedRequests - runningRequests) +
      waiting,
  ),
  gauge('vllm:num_requests_running', 'Requests that steps of models work on', ({ engines }) =>
    sum(engines, ({ runningRequests }) => runningRequests),
  ),
  gauge(
    'vllm:kv_cache_usage_perc',
    'Share of the cells that requests need now, of the fullest context, 0 to 1',
    ({ engines }) => Math.max(0, ...engines.map(usage)),
  ),
]

/** Their only label. */
export const pickerLabels = ([first]: readonly EngineReport[]) => ({
  model_name: first?.model ?? '',
})

function usage({ deviceCells, deviceCellsUsed, deviceCellsIdle }: EngineStats): number {
  return deviceCells === 0 ? 0 : (deviceCellsUsed - deviceCellsIdle) / deviceCells
}

function sum(engines: readonly EngineStats[], of: (stats: EngineStats) => number): number {
  return engines.reduce((total, stats) => total + of(stats), 0)
}

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

interface PickerMetric {
  readonly name: string
  readonly help: string
  /** @param waiting - Requests that wait for a place, before any engine. */
  readonly read: (engines: readonly EngineStats[], waiting: number) => number
}

export const pickerMetrics: readonly PickerMetric[] = [
  {
    name: 'vllm:num_requests_waiting',
    help: 'Requests that wait for a place or for a step of their model',
    read: (engines, waiting) =>
      sum(engines, ({ queuedRequests, runningRequests }) => queuedRequests - runningRequests) +
      waiting,
  },
  {
    name: 'vllm:num_requests_running',
    help: 'Requests that steps of models work on',
    read: (engines) => sum(engines, ({ runningRequests }) => runningRequests),
  },
  {
    name: 'vllm:kv_cache_usage_perc',
    help: 'Share of the cells that requests need now, of the fullest context, 0 to 1',
    read: (engines) => Math.max(0, ...engines.map(usage)),
  },
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

/**
 * What `GET /metrics` says about each engine: names, meanings, and where the numbers come from.
 *
 * Names and units follow Prometheus' conventions: base units (seconds, bytes), and `_total` for
 * what only grows.
 *
 * @module
 */

import type { EngineStats } from '../../engine/types.js'

export interface EngineMetric {
  /** Behind the prefix `oi_engine_`. */
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  /** The label besides `model` that tells several numbers apart. */
  readonly label?: string
  /** One number, or one for each value of the label. */
  readonly read: (stats: EngineStats) => number | Readonly<Record<string, number>>
}

const counter = (name: string, help: string, read: EngineMetric['read'], label?: string) =>
  metric('counter', name, help, read, label)
const gauge = (name: string, help: string, read: EngineMetric['read'], label?: string) =>
  metric('gauge', name, help, read, label)

export const engineMetrics: readonly EngineMetric[] = [
  gauge(
    'queued_requests',
    'Requests accepted and not yet answered',
    (stats) => stats.queuedRequests,
  ),
  gauge('queued_tokens', 'Tokens that those still need', (stats) => stats.queuedTokens),
  gauge(
    'backlog_seconds',
    'Predicted time for the queued tokens',
    (stats) => stats.backlogMs / 1000,
  ),
  counter(
    'requests_total',
    'Requests that ended, by how',
    ({ answered, cancelled, expired, refused, failed }) => ({
      ...{ answered, cancelled, expired, refused, failed },
    }),
    'outcome',
  ),
  counter('steps_total', 'Steps of the model', (stats) => stats.steps),
  counter(
    'step_capacity_tokens_total',
    'Tokens that those steps could have held',
    (stats) => stats.capacityTokens,
  ),
  counter('busy_seconds_total', 'Time spent in steps', (stats) => stats.busyMs / 1000),
  counter(
    'submit_seconds_total',
    'Of that, until a device had all of a step',
    (stats) => stats.submitMs / 1000,
  ),
  counter('evaluated_tokens_total', 'Tokens evaluated', (stats) => stats.evaluatedTokens),
  counter(
    'padding_tokens_total',
    'Evaluated tokens that only filled a step up',
    (stats) => stats.paddingTokens,
  ),
  counter(
    'lost_tokens_total',
    'Evaluated tokens of requests that were not answered',
    (stats) => stats.lostTokens,
  ),
  gauge('batch_fill_ratio', 'Evaluated tokens by what the steps could have held, 0 to 1', (stats) =>
    ratio(stats.evaluatedTokens, stats.capacityTokens),
  ),
  gauge(
    'useful_work_ratio',
    'Share of the evaluated tokens that was neither padding nor lost, 0 to 1',
    ({ evaluatedTokens, paddingTokens, lostTokens }) =>
      ratio(evaluatedTokens - paddingTokens - lostTokens, evaluatedTokens),
  ),
  gauge(
    'tokens_per_second',
    'Rate of evaluation over the last steps',
    (stats) => stats.tokensPerSecond,
  ),
  counter('prompt_tokens_total', 'Tokens of answered prompts', (stats) => stats.promptTokens),
  counter(
    'cached_tokens_total',
    'Tokens of answered prompts that came from a cache, by tier',
    (stats) => ({
      device: stats.deviceCachedTokens,
      host: stats.hostCachedTokens,
      disk: stats.diskCachedTokens,
    }),
    'tier',
  ),
  counter(
    'cache_lookups_total',
    'Requests by the tier that gave them the most tokens; none: no tier had any',
    (stats) => ({
      device: stats.deviceHits,
      host: stats.hostHits,
      disk: stats.diskHits,
      none: stats.missed,
    }),
    'tier',
  ),
  gauge('context_cells', 'Cells of the context, one per token', (stats) => stats.deviceCells),
  gauge('context_cells_used', 'Cells that hold a token', (stats) => stats.deviceCellsUsed),
  gauge(
    'cached_prefixes',
    'States that are kept, by tier',
    (stats) => ({
      device: stats.devicePrefixes,
      host: stats.hostPrefixes,
      disk: stats.diskPrefixes,
    }),
    'tier',
  ),
  gauge(
    'cache_bytes',
    'Size of the states that are kept outside the context, by tier',
    (stats) => ({ host: stats.hostBytes, disk: stats.diskBytes }),
    'tier',
  ),
  gauge(
    'cache_limit_bytes',
    'Size that those may have, by tier',
    (stats) => ({ host: stats.hostBytesLimit, disk: stats.diskBytesLimit }),
    'tier',
  ),
  counter(
    'readout_bytes_total',
    'Bytes of logits, or of what was made of them, that came from a device',
    (stats) => stats.readoutBytes,
  ),
  counter(
    'graphs_reused_total',
    'Compute graphs used again without being rebuilt',
    (stats) => stats.graphsReused,
  ),
]

function metric(
  kind: EngineMetric['kind'],
  name: string,
  help: string,
  read: EngineMetric['read'],
  label: string | undefined,
): EngineMetric {
  return { kind, name, help, read, ...(label !== undefined && { label }) }
}

/** 1 for nothing of nothing: an engine that has done nothing has wasted nothing. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole
}

/**
 * The metrics of each engine: names, help texts, and sources.
 *
 * Names and units follow Prometheus' conventions: base units (seconds, bytes), and `_total` for
 * counters.
 *
 * @module
 */

import type { EngineStats } from '../../engine/types.js'

interface EngineMetric {
  /** The name after the prefix `oi_engine_`. */
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  /** A label, besides `model`, that distinguishes several numbers. */
  readonly label?: string
  /** One number, or one per value of the label. */
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
  gauge(
    'running_requests',
    'Requests that the present step, or the last one, works on',
    (stats) => stats.runningRequests,
  ),
  gauge('queued_tokens', 'Tokens that these requests still need', (stats) => stats.queuedTokens),
  gauge(
    'backlog_seconds',
    'Predicted time for the queued tokens',
    (stats) => stats.backlogMs / 1000,
  ),
  counter(
    'requests_total',
    'Requests that ended, by outcome',
    ({ answered, cancelled, expired, refused, failed }) => ({
      ...{ answered, cancelled, expired, refused, failed },
    }),
    'outcome',
  ),
  gauge(
    'not_finite_in_row',
    'Requests with numbers that were not finite, since the last answer',
    (stats) => stats.notFiniteInRow,
  ),
  counter('steps_total', 'Steps of the model', (stats) => stats.steps),
  counter(
    'step_capacity_tokens_total',
    'Tokens that the steps could have held',
    (stats) => stats.capacityTokens,
  ),
  counter('busy_seconds_total', 'Time spent in steps', (stats) => stats.busyMs / 1000),
  counter(
    'submit_seconds_total',
    'Part of the busy time until a device had received the whole step',
    (stats) => stats.submitMs / 1000,
  ),
  counter('evaluated_tokens_total', 'Tokens evaluated', (stats) => stats.evaluatedTokens),
  counter(
    'padding_tokens_total',
    'Evaluated tokens that only padded a step',
    (stats) => stats.paddingTokens,
  ),
  counter(
    'lost_tokens_total',
    'Evaluated tokens of requests that were not answered',
    (stats) => stats.lostTokens,
  ),
  gauge(
    'batch_fill_ratio',
    'Evaluated tokens divided by the capacity of the steps, 0 to 1',
    (stats) => ratio(stats.evaluatedTokens, stats.capacityTokens),
  ),
  gauge(
    'useful_work_ratio',
    'Share of the evaluated tokens that was neither padding nor lost, 0 to 1',
    ({ evaluatedTokens, paddingTokens, lostTokens }) =>
      ratio(evaluatedTokens - paddingTokens - lostTokens, evaluatedTokens),
  ),
  gauge(
    'tokens_per_second',
    'Tokens per second over the last steps',
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
    'Requests by the tier that supplied the most tokens; none: no tier had any',
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
    'context_cells_idle',
    'Cells with tokens that no request needs now',
    (stats) => stats.deviceCellsIdle,
  ),
  gauge(
    'cached_prefixes',
    'Cached states, by tier',
    (stats) => ({
      device: stats.devicePrefixes,
      host: stats.hostPrefixes,
      disk: stats.diskPrefixes,
    }),
    'tier',
  ),
  gauge(
    'cache_bytes',
    'Size of the cached states outside the context, by tier',
    (stats) => ({ host: stats.hostBytes, disk: stats.diskBytes }),
    'tier',
  ),
  gauge(
    'cache_limit_bytes',
    'Maximum size of these states, by tier',
    (stats) => ({ host: stats.hostBytesLimit, disk: stats.diskBytesLimit }),
    'tier',
  ),
  counter(
    'readout_bytes_total',
    'Bytes of logits, or of results computed from them, that came from a device',
    (stats) => stats.readoutBytes,
  ),
  counter(
    'graphs_reused_total',
    'Compute graphs reused without a rebuild',
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

/** 0/0 is 1: an engine that has done nothing has wasted nothing. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole
}

/**
 * The metrics of each engine: names, help texts, and sources.
 *
 * Names and units follow Prometheus' conventions: base units (seconds, bytes), and `_total` for
 * counters.
 *
 * @module
 */

import type { EngineStats } from '../../engine/types.js'
import { counter, gauge, type MetricRow } from './metric-row.js'

/** Their names come after the prefix `oi_engine_`. */
export const engineMetrics: readonly MetricRow<EngineStats>[] = [
  gauge('queued_requests', 'Requests accepted and not yet answered', 'queuedRequests'),
  gauge(
    'running_requests',
    'Requests that the present step, or the last one, works on',
    'runningRequests',
  ),
  gauge('queued_tokens', 'Tokens that these requests still need', 'queuedTokens'),
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
    'notFiniteInRow',
  ),
  counter('steps_total', 'Steps of the model', 'steps'),
  counter('step_capacity_tokens_total', 'Tokens that the steps could have held', 'capacityTokens'),
  counter('busy_seconds_total', 'Time spent in steps', (stats) => stats.busyMs / 1000),
  counter(
    'submit_seconds_total',
    'Part of the busy time until a device had received the whole step',
    (stats) => stats.submitMs / 1000,
  ),
  counter('steps_ahead_total', 'Steps submitted while a GPU still evaluated another', 'stepsAhead'),
  counter('evaluated_tokens_total', 'Tokens evaluated', 'evaluatedTokens'),
  counter('padding_tokens_total', 'Evaluated tokens that only padded a step', 'paddingTokens'),
  counter('lost_tokens_total', 'Evaluated tokens of requests that were not answered', 'lostTokens'),
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
  gauge('tokens_per_second', 'Tokens per second over the last steps', 'tokensPerSecond'),
  counter('prompt_tokens_total', 'Tokens of answered prompts', 'promptTokens'),
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
  gauge('context_cells', 'Cells of the context, one per token', 'deviceCells'),
  gauge('context_cells_used', 'Cells that hold a token', 'deviceCellsUsed'),
  gauge('context_cells_idle', 'Cells with tokens that no request needs now', 'deviceCellsIdle'),
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
  counter('readout_bytes_total', 'Bytes of logits that came from a device', 'readoutBytes'),
  counter('graphs_reused_total', 'Compute graphs reused without a rebuild', 'graphsReused'),
  counter(
    'attention_read_pairs_total',
    'Pairs of a token and a cell that attention read on a GPU',
    'readPairs',
  ),
  counter(
    'attention_seen_pairs_total',
    'Those pairs of which the token sees the cell',
    'seenPairs',
  ),
]

/** 0/0 is 1: an engine that has done nothing has wasted nothing. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole
}

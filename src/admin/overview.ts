/**
 * The overview: the last hour in columns, and sums of the last minute and the hour.
 *
 * @module
 */

import type { ReplyOf } from '../api/admin/operations.js'
import { type History, mostSlots, type Slot, stepMs } from '../http/metrics/history.js'
import { quantileOf } from '../http/metrics/quantile.js'
import { boundsMs } from '../http/metrics/traffic.js'
import type { AdminHandlers } from './call.js'
import { timeText } from './present.js'

type Overview = ReplyOf<'getOverview'>

const minuteSlots = 60_000 / stepMs
/** As many as a chart can show apart. */
const mostModels = 6
const bounds = [...boundsMs, Infinity]

export function overviewHandlers(history: History): AdminHandlers<'getOverview'> {
  return { getOverview: () => overviewOf(history.slots(), history.waiting()) }
}

function overviewOf(slots: readonly Slot[], waiting: number): Overview {
  const quantiles = (q: number) => slots.map(({ durations }) => quantile(q, durations))
  return {
    step_seconds: stepMs / 1000,
    waiting,
    last_minute: windowOf(slots.slice(-minuteSlots)),
    last_hour: windowOf(slots.slice(-mostSlots)),
    ends: slots.map(({ endMs }) => timeText(endMs)),
    seconds: slots.map(({ seconds }) => rounded(seconds, 2)),
    statuses: columnsOf(slots, ({ statuses }) => statuses)
      .sort(([a], [b]) => a - b)
      .map(([status, counts]) => ({ status, counts })),
    codes: columnsOf(slots, ({ codes }) => codes)
      .sort(([, a], [, b]) => sum(b) - sum(a))
      .map(([code, counts]) => ({ code, counts })),
    p50_ms: quantiles(0.5),
    p95_ms: quantiles(0.95),
    waiting_at_end: slots.map((slot) => slot.waiting),
    models: modelsOf(slots),
    cache_hits: slots.map(({ hits, lookups }) => shareOf(hits, lookups)),
  }
}

function windowOf(slots: readonly Slot[]): Overview['last_minute'] {
  const of = (wanted: (status: number) => boolean) =>
    sum(slots.flatMap(({ statuses }) => [...statuses].map(([s, n]) => (wanted(s) ? n : 0))))
  const seconds = sum(slots.map((slot) => slot.seconds))
  const durations = bounds.map((_, i) => sum(slots.map((slot) => slot.durations[i]!)))
  const busy = busyOf(slots)
  return {
    seconds: rounded(seconds, 1),
    answered: of((status) => status >= 200 && status < 400),
    refused: of((status) => status >= 400 && status < 500),
    failed: of((status) => status >= 500),
    gone: of((status) => status === 0),
    p50_ms: quantile(0.5, durations),
    p95_ms: quantile(0.95, durations),
    busy: busy.length === 0 ? null : rounded(busy[0]![1], 4),
    cache_hits: shareOf(sum(slots.map(({ hits }) => hits)), sum(slots.map((one) => one.lookups))),
  }
}

/** The models and the share of the whole time in which they worked, the busiest first. */
function busyOf(slots: readonly Slot[]): [string, number][] {
  const seconds = sum(slots.map((slot) => slot.seconds))
  const worked = new Map<string, number>()
  for (const slot of slots) {
    for (const [name, { busy }] of slot.models) {
      worked.set(name, (worked.get(name) ?? 0) + busy * slot.seconds)
    }
  }
  const shares = [...worked].map(([name, sum]): [string, number] => [name, sum / seconds])
  return shares.sort(([, a], [, b]) => b - a)
}

function modelsOf(slots: readonly Slot[]): Overview['models'] {
  const now = slots.at(-1)?.models
  return busyOf(slots)
    .slice(0, mostModels)
    .map(([model]) => ({
      model,
      queued: now?.get(model)?.queued ?? 0,
      busy: slots.map(({ models }) => rounded(models.get(model)?.busy ?? 0, 4)),
    }))
}

/** By key: its counts in all slots. */
function columnsOf<K>(
  slots: readonly Slot[],
  counts: (slot: Slot) => ReadonlyMap<K, number>,
): [K, number[]][] {
  const keys = new Set(slots.flatMap((slot) => [...counts(slot).keys()]))
  return [...keys].map((key) => [key, slots.map((slot) => counts(slot).get(key) ?? 0)])
}

function quantile(q: number, durations: readonly number[]): number | null {
  const ms = quantileOf(q, bounds, durations)
  return ms === undefined ? null : rounded(ms, 2)
}

function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : rounded(part / whole, 4)
}

const sum = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
const rounded = (value: number, digits: number) => Number(value.toFixed(digits))

/**
 * The values of the charts as a table, minute by minute.
 *
 * @module
 */

import { clock, milliseconds, percent } from '../format.js'
import { type Column, numbers, Table } from '../parts/table.js'
import type { Overview } from '../wire.js'

interface Minute {
  readonly endMs: number
  readonly answered: number
  readonly refused: number
  readonly failed: number
  /** The slowest slot's. */
  readonly p50: number | null
  readonly p95: number | null
  readonly waiting: number
  readonly busy: number
}

const columns: readonly Column<Minute>[] = [
  { name: 'Until (UTC)', head: true, cell: ({ endMs }) => clock(endMs, true) },
  numbers('Answered', ({ answered }) => answered),
  numbers('Refused', ({ refused }) => refused),
  numbers('Failed', ({ failed }) => failed),
  numbers('Median', ({ p50 }) => p50, milliseconds),
  numbers('95 of 100', ({ p95 }) => p95, milliseconds),
  numbers('Waiting, at most', ({ waiting }) => waiting),
  numbers('Busiest model', ({ busy }) => busy, percent),
]

export function Minutes({ of: data }: { readonly of: Overview }) {
  return (
    <details class="values">
      <summary>Values for each minute</summary>
      <Table
        label="The last hour, minute by minute"
        columns={columns}
        rows={minutesOf(data)}
        rowKey={({ endMs }) => endMs}
        pageSize={60}
      />
    </details>
  )
}

/** The newest first. */
function minutesOf(data: Overview): Minute[] {
  const perMinute = Math.max(1, Math.round(60 / data.step_seconds))
  const minutes: Minute[] = []
  for (let to = data.ends.length; to > 0; to -= perMinute) {
    const from = Math.max(0, to - perMinute)
    const part = <T,>(values: readonly T[]) => values.slice(from, to)
    const of = (wanted: (status: number) => boolean) =>
      data.statuses
        .filter(({ status }) => wanted(status))
        .reduce((sum, { counts }) => sum + part(counts).reduce((sum, n) => sum + n, 0), 0)
    const highest = (values: readonly (number | null)[]) => {
      const known = part(values).filter((value) => value !== null)
      return known.length === 0 ? null : Math.max(...known)
    }
    minutes.push({
      endMs: Date.parse(data.ends[to - 1]!),
      answered: of((status) => status >= 200 && status < 400),
      refused: of((status) => status >= 400 && status < 500),
      failed: of((status) => status >= 500),
      p50: highest(data.p50_ms),
      p95: highest(data.p95_ms),
      waiting: highest(data.waiting_at_end) ?? 0,
      busy: Math.max(0, ...data.models.map(({ busy }) => highest(busy) ?? 0)),
    })
  }
  return minutes
}

/**
 * Turns rows of usage into bars over time.
 *
 * @module
 */

import type { Usage, UsageRow } from '../wire.js'

export const measures = [
  { value: 'requests', text: 'Answered requests' },
  { value: 'input_tokens', text: 'Input tokens' },
  { value: 'output_tokens', text: 'Output tokens' },
  { value: 'image_tokens', text: 'Image tokens' },
  { value: 'cached_tokens', text: 'Cached tokens' },
  { value: 'cost', text: 'Cost (credits)' },
] as const

export type Measure = (typeof measures)[number]['value']

export interface Series {
  readonly key: string
  readonly name: string
  /** One for each slot. */
  readonly values: readonly number[]
  readonly total: number
}

export interface Bars {
  /** The start of each hour or day, ms since 1970. */
  readonly slots: readonly number[]
  /** The largest first; all beyond `most` are one series at the end. */
  readonly series: readonly Series[]
}

/** As many as there are distinct colours. */
const mostSeries = 6

const stepMs = { hour: 3_600_000, day: 86_400_000 } as const

export function barsOf(usage: Usage, measure: Measure): Bars {
  const step = stepMs[usage.per]
  const from = Date.parse(usage.from)
  const length = Math.max(1, Math.round((Date.parse(usage.to) - from) / step))
  const slots = Array.from({ length }, (_, i) => from + i * step)
  const byKey = new Map<string, { name: string; values: number[]; total: number }>()
  for (const row of usage.rows) {
    const slot = Math.round((Date.parse(row.start) - from) / step)
    if (slot < 0 || slot >= length) continue
    const key = keyOf(row)
    let series = byKey.get(key)
    if (series === undefined) {
      series = { name: nameOf(row), values: new Array<number>(length).fill(0), total: 0 }
      byKey.set(key, series)
    }
    series.values[slot]! += row[measure]
    series.total += row[measure]
  }
  const all = [...byKey].map(([key, series]) => ({ key, ...series }))
  all.sort((a, b) => b.total - a.total)
  if (all.length <= mostSeries) return { slots, series: all }
  const rest = all.slice(mostSeries - 1)
  const others = {
    key: 'others',
    name: `${rest.length} others`,
    values: slots.map((_, i) => rest.reduce((sum, { values }) => sum + values[i]!, 0)),
    total: rest.reduce((sum, { total }) => sum + total, 0),
  }
  return { slots, series: [...all.slice(0, mostSeries - 1), others] }
}

export interface Total extends Record<Measure, number> {
  readonly key: string
  readonly name: string
  readonly workspace: string | undefined
}

/** Totals of the whole time, the largest first. */
export function totalsOf(usage: Usage): Total[] {
  const byKey = new Map<string, Total>()
  for (const row of usage.rows) {
    const key = keyOf(row)
    const total = byKey.get(key)
    if (total === undefined) {
      byKey.set(key, { ...row, key, name: nameOf(row), workspace: row.workspace })
    } else {
      for (const { value } of measures) total[value] += row[value]
    }
  }
  return [...byKey.values()].sort((a, b) => b.requests - a.requests)
}

/** The sum of all rows. */
export function sumOf(totals: readonly Total[], measure: Measure): number {
  return totals.reduce((sum, total) => sum + total[measure], 0)
}

function keyOf(row: UsageRow): string {
  return String(row.key_id ?? row.model ?? row.workspace_id)
}

function nameOf(row: UsageRow): string {
  return row.key ?? row.model ?? row.workspace ?? ''
}

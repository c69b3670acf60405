/**
 * The time ranges of usage.
 *
 * @module
 */

type Range = 'all' | '24h' | '48h' | '7d' | '30d' | '90d' | 'custom'

export const ranges: readonly { readonly value: Range; readonly text: string }[] = [
  { value: 'all', text: 'All, up to 90 days' },
  { value: '24h', text: '24 hours, by hour' },
  { value: '48h', text: '48 hours, by hour' },
  { value: '7d', text: '7 days, by hour' },
  { value: '30d', text: '30 days, by day' },
  { value: '90d', text: '90 days, by day' },
  { value: 'custom', text: 'From … to …' },
]

export interface Span {
  readonly per: 'hour' | 'day'
  readonly from: string | undefined
  readonly to: string | undefined
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const hours: Readonly<Record<string, number>> = { '24h': 24, '48h': 48, '7d': 168 }
const days: Readonly<Record<string, number>> = { '30d': 30, '90d': 90 }

/** The oldest usage that `all` shows. */
export const longestDays = 90
/** The longest time that is shown by hour, and the shortest. */
const [mostHours, fewestHours] = [72, 12]

/**
 * The whole time in which there was usage.
 *
 * @param firstMs - The beginning of its first day; undefined: there is none.
 */
export function wholeSpan(firstMs: number | undefined, nowMs = Date.now()): Span {
  const hourEnd = Math.ceil((nowMs + 1) / hourMs) * hourMs
  if (firstMs === undefined || hourEnd - firstMs <= mostHours * hourMs) {
    const from = Math.min(firstMs ?? hourEnd, hourEnd - fewestHours * hourMs)
    return { per: 'hour', from: iso(from), to: iso(hourEnd) }
  }
  return { per: 'day', from: iso(firstMs), to: iso(Math.ceil((nowMs + 1) / dayMs) * dayMs) }
}

/** @param custom - Days as `2026-11-26`, both included; either may be empty. */
export function rangeOf(
  range: Exclude<Range, 'all'>,
  custom: { readonly from: string; readonly to: string },
  nowMs = Date.now(),
): Span {
  if (range === 'custom') {
    const to = Date.parse(`${custom.to}T00:00:00Z`)
    const from = Date.parse(`${custom.from}T00:00:00Z`)
    return {
      per: 'day',
      from: Number.isNaN(from) ? undefined : new Date(from).toISOString(),
      to: Number.isNaN(to) ? undefined : new Date(to + dayMs).toISOString(),
    }
  }
  const inHours = hours[range]
  if (inHours !== undefined) {
    const to = Math.ceil((nowMs + 1) / hourMs) * hourMs
    return { per: 'hour', from: iso(to - inHours * hourMs), to: iso(to) }
  }
  const to = Math.ceil((nowMs + 1) / dayMs) * dayMs
  return { per: 'day', from: iso(to - days[range]! * dayMs), to: iso(to) }
}

const iso = (ms: number): string => new Date(ms).toISOString()

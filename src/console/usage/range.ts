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
const lengths = {
  '24h': ['hour', 24 * hourMs],
  '48h': ['hour', 48 * hourMs],
  '7d': ['hour', 7 * dayMs],
  '30d': ['day', 30 * dayMs],
  '90d': ['day', 90 * dayMs],
} as const

/** The oldest usage that `all` shows. */
export const longestDays = 90
/** The longest time that is shown by hour, and the shortest. */
const [mostHours, fewestHours] = [72, 12]

/**
 * The whole time in which there was usage.
 *
 * @param firstMs - The beginning of its first day; undefined: there is none.
 */
export function wholeSpan(firstMs: number | undefined): Span {
  const hourEnd = endOf(hourMs)
  if (firstMs === undefined || hourEnd - firstMs <= mostHours * hourMs) {
    const from = Math.min(firstMs ?? hourEnd, hourEnd - fewestHours * hourMs)
    return { per: 'hour', from: iso(from), to: iso(hourEnd) }
  }
  return { per: 'day', from: iso(firstMs), to: iso(endOf(dayMs)) }
}

/** @param custom - Days as `2026-11-26`, both included; either may be empty. */
export function rangeOf(
  range: Exclude<Range, 'all'>,
  custom: { readonly from: string; readonly to: string },
): Span {
  if (range === 'custom') {
    const at = (day: string, laterMs: number) => {
      const ms = Date.parse(`${day}T00:00:00Z`)
      return Number.isNaN(ms) ? undefined : iso(ms + laterMs)
    }
    return { per: 'day', from: at(custom.from, 0), to: at(custom.to, dayMs) }
  }
  const [per, ms] = lengths[range]
  const to = endOf(per === 'hour' ? hourMs : dayMs)
  return { per, from: iso(to - ms), to: iso(to) }
}

/** The end of the present hour or day. */
const endOf = (unitMs: number): number => Math.ceil((Date.now() + 1) / unitMs) * unitMs

const iso = (ms: number): string => new Date(ms).toISOString()

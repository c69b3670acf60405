/**
 * Formats numbers, amounts and times for the console. Times are in UTC, as in the server's log,
 * usage and budgets.
 *
 * @module
 */

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const count = (value: number): string => whole.format(value)

/** `1.2M`, for axes. */
export const compact = (value: number): string => short.format(value)

/** `1 key`, `2 keys`. */
export function counted(value: number, one: string): string {
  return `${count(value)} ${one}${value === 1 ? '' : 's'}`
}

/** `No process`. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const perCredit = 1_000_000

/** Millionths of a credit as credits, with every digit. */
export function credits(millionths: number): string {
  const size = Math.abs(millionths)
  const rest = size % perCredit
  const fraction = rest === 0 ? '' : `.${String(rest).padStart(6, '0').replace(/0+$/, '')}`
  const sign = millionths < 0 ? '−' : ''
  return `${sign}${whole.format((size - rest) / perCredit)}${fraction}`
}

/**
 * Reads credits as a person types them, to millionths.
 *
 * @returns Undefined unless it is a number with at most 9 digits before the point and 6 behind it.
 */
export function readCredits(text: string): number | undefined {
  const match = /^([-−]?)(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text.trim().replaceAll(/[,_ ]/g, ''))
  if (match === null) return undefined
  const amount = Number(match[2]) * perCredit + Number((match[3] ?? '').padEnd(6, '0'))
  return match[1] === '' || amount === 0 ? amount : -amount
}

export function percent(share: number): string {
  if (share === 0 || share === 1) return `${share * 100}%`
  return `${(share * 100).toFixed(share > 0.0995 && share < 0.9995 ? 0 : 1)}%`
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${units[unit]!}`
}

/** `0`, `0.25`, `12.5`, `1,340`: three digits, for rates. */
export function rate(value: number): string {
  if (value === 0) return '0'
  if (value >= 1000) return compact(value)
  return String(Number(value.toPrecision(value < 1 ? 2 : 3)))
}

/** `4.2 ms`, `1.3 s`. */
export function milliseconds(value: number): string {
  if (value >= 1000) return `${(value / 1000).toFixed(1)} s`
  if (value === 0) return '0 ms'
  return `${value.toFixed(value >= 10 ? 0 : 1)} ms`
}

/** `2026-11-26 00:41`. */
export function dateTime(time: string | number | Date): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

export const date = (time: string | number | Date): string =>
  new Date(time).toISOString().slice(0, 10)

/** `00:41`; with seconds `00:41:10`. */
export const clock = (time: string | number | Date, seconds = false): string =>
  new Date(time).toISOString().slice(11, seconds ? 19 : 16)

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
  ['year', Infinity],
]
const relative = new Intl.RelativeTimeFormat('en')

/** `3 minutes ago`, `in 5 days`. */
export function ago(time: string | number | Date): string {
  let value = (new Date(time).getTime() - Date.now()) / 1000
  if (Math.abs(value) < 5) return 'just now'
  for (const [unit, size] of steps) {
    if (Math.abs(value) < size) return relative.format(Math.trunc(value), unit)
    value /= size
  }
  return ''
}

/** `3 d 4 h`. */
export function duration(seconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
  ]
  const from = parts.findIndex(([value]) => value > 0)
  if (from === -1) return `${Math.floor(seconds)} s`
  return parts
    .slice(from, from + 2)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ')
}

const factors: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, b: 1e9 }

/** `12 000`, `12,000`, `12k`, `1.5M`. @returns Undefined if it is no whole number of 0 or more. */
export function readWhole(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([kmgb]?)$/.exec(text.replaceAll(/[\s,_]/g, '').toLowerCase())
  if (match === null) return undefined
  // Rounded to six decimals: 1.1 million is no whole number in binary.
  const value = Number((Number(match[1]) * factors[match[2]!]!).toFixed(6))
  return Number.isSafeInteger(value) ? value : undefined
}

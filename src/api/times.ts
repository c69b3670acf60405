/**
 * Days and points in time as people type them, in commands, settings and the admin API: exact ISO
 * 8601, or nothing. `Date.parse` alone makes the 29 February of any year a day, and moves it.
 *
 * @module
 */

const dayForm = /^\d{4}-\d\d-\d\d$/
const timeForm =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/

/** For messages. */
export const timeExample = '2026-01-31 or 2026-01-31T12:00:00Z'

/** @param text - As `2026-01-31`. @returns Its begin in UTC, milliseconds since 1970; or undefined. */
export function readDay(text: string): number | undefined {
  if (!dayForm.test(text)) return undefined
  const ms = Date.parse(`${text}T00:00:00Z`)
  // A day that the calendar does not have is another one when it is written again.
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) ? ms : undefined
}

/**
 * @param text - A day, or a point in time with its offset from UTC: `2026-01-31T12:00Z`,
 *   `2026-01-31T12:00:00.5+02:00`.
 * @returns Milliseconds since 1970; or undefined.
 */
export function readTime(text: string): number | undefined {
  const day = timeForm.exec(text)?.[1]
  if (day === undefined) return readDay(text)
  return readDay(day) === undefined ? undefined : Date.parse(text)
}

/**
 * The figures of the last minute.
 *
 * @module
 */

import { count, milliseconds, percent, rate } from '../format.js'
import type { Overview } from '../wire.js'

export function Figures({ of: { last_minute: minute, waiting } }: { readonly of: Overview }) {
  const per = (decisions: number) =>
    minute.seconds === 0 ? '–' : `${rate(decisions / minute.seconds)}/s`
  const ms = (value: number | null) => (value === null ? '–' : milliseconds(value))
  const share = (value: number | null) => (value === null ? '–' : percent(value))
  const figures: readonly (readonly [string, string])[] = [
    [per(minute.answered), 'Answered'],
    [per(minute.refused + minute.failed), 'Refused or failed'],
    [ms(minute.p50_ms), 'Time to an answer, median'],
    [ms(minute.p95_ms), '95 of 100 are faster'],
    [count(waiting), 'Waiting now'],
    [share(minute.busy), 'Busiest model at work'],
    [share(minute.cache_hits), 'Found in the cache'],
  ]
  return (
    <section aria-label="The last minute">
      <ul class="figures">
        {figures.map(([value, text]) => (
          <li key={text}>
            <span class="figure">{value}</span>
            <span class="faint">{text}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

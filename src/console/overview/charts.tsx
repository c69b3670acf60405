/**
 * The last hour as charts.
 *
 * @module
 */

import { Legend } from '../charts/tip.js'
import { TimeChart, type TimeChartProps, type TimeSeries } from '../charts/time-chart.js'
import { compact, count, milliseconds, percent, rate } from '../format.js'
import type { Overview } from '../wire.js'

interface Shown extends Omit<TimeChartProps, 'ends' | 'label'> {
  readonly title: string
  /** Beside the title. */
  readonly unit: string
  /** The value of a series in the legend. */
  readonly of: (values: TimeSeries['values']) => string
}

export function Charts({ of: data }: { readonly of: Overview }) {
  const ends = data.ends.map((end) => Date.parse(end))
  return (
    <div class="charts">
      {shownOf(data).map(({ title, unit, of, ...chart }) => (
        <figure key={title} class="card chart-card">
          <figcaption>
            <h2>{title}</h2>
            <p class="faint">{unit}</p>
          </figcaption>
          <TimeChart {...chart} ends={ends} label={`${title}, ${unit}`} />
          <Legend
            of={chart.series.map(({ name, values, rank }) => ({
              ...{ key: name, name, text: of(values) },
              ...(rank !== undefined && { rank }),
            }))}
          />
        </figure>
      ))}
    </div>
  )
}

function shownOf(data: Overview): readonly Shown[] {
  const perSecond = (counts: readonly number[]) => counts.map((n, i) => n / data.seconds[i]!)
  const total = (values: TimeSeries['values']) =>
    count(Math.round(values.reduce((sum: number, v, i) => sum + (v ?? 0) * data.seconds[i]!, 0)))
  const last = (show: (value: number) => string) => (values: TimeSeries['values']) => {
    const found = values.findLast((value) => value !== null)
    return found === undefined || found === null ? '–' : show(found)
  }
  const mean = (values: TimeSeries['values']) => {
    const whole = data.seconds.reduce((sum, s) => sum + s, 0)
    const sum = values.reduce((sum: number, v, i) => sum + (v ?? 0) * data.seconds[i]!, 0)
    return whole === 0 ? '–' : percent(sum / whole)
  }
  return [
    {
      ...{ title: 'Decisions by status', unit: 'per second', kind: 'areas', show: rate },
      series: statusesOf(data).map(({ name, counts, rank }) => ({
        ...{ name, rank },
        values: perSecond(counts),
      })),
      of: total,
    },
    {
      ...{ title: 'Time to an answer', unit: 'single requests', kind: 'lines' },
      ...{ show: milliseconds, least: 1 },
      series: [
        { name: 'median', values: data.p50_ms },
        { name: '95 of 100 are faster', values: data.p95_ms, rank: 2 },
      ],
      of: last(milliseconds),
    },
    {
      ...{ title: 'Refusals by reason', unit: 'per second', kind: 'areas', show: rate },
      series: mostFrequent(
        data.codes.map(({ code, counts }) => ({ name: code, counts })),
        5,
      ).map(({ name, counts }, i) => ({ name, rank: i + 1, values: perSecond(counts) })),
      of: total,
    },
    {
      ...{ title: 'Waiting', unit: 'decisions', kind: 'lines', show: compact, least: 1 },
      series: [{ name: 'for a place or a model', values: data.waiting_at_end }],
      of: last(count),
    },
    {
      ...{ title: 'Models at work', unit: 'share of the time', kind: 'lines', top: 1 },
      show: percent,
      series: data.models.map(({ model, busy }) => ({ name: model, values: busy })),
      of: mean,
    },
    {
      ...{ title: 'Found in a cache', unit: 'share of the requests', kind: 'lines', top: 1 },
      show: percent,
      series: [{ name: 'state, or a part of it', values: data.cache_hits }],
      of: last(percent),
    },
  ]
}

interface Counts {
  readonly name: string
  readonly counts: readonly number[]
}

/** Answers in the first colour, clients that had gone in the last, refusals and failures between. */
function statusesOf({ statuses }: Overview): readonly (Counts & { readonly rank: number })[] {
  const name = (status: number) =>
    status === 0 ? 'client had gone' : status === 200 ? '200 answered' : String(status)
  const all = statuses.map(({ status, counts }) => ({ status, name: name(status), counts }))
  const others = all.filter(({ status }) => status !== 0 && status !== 200)
  return [
    ...all.filter(({ status }) => status === 200).map((one) => ({ ...one, rank: 0 })),
    ...mostFrequent(others, 4).map((one, i) => ({ ...one, rank: i + 1 })),
    ...all.filter(({ status }) => status === 0).map((one) => ({ ...one, rank: 5 })),
  ]
}

/** The most frequent ones, and the others together where there are more than colours. */
function mostFrequent(all: readonly Counts[], most: number): readonly Counts[] {
  const sum = ({ counts }: Counts) => counts.reduce((sum, n) => sum + n, 0)
  const sorted = [...all].sort((a, b) => sum(b) - sum(a))
  if (sorted.length <= most) return sorted
  const rest = sorted.slice(most - 1)
  const counts = rest[0]!.counts.map((_, i) => rest.reduce((sum, one) => sum + one.counts[i]!, 0))
  return [...sorted.slice(0, most - 1), { name: `${rest.length} others`, counts }]
}

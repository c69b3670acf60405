/**
 * Lines, or areas on top of each other, over the last minutes. A table elsewhere has the values.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { clock } from '../format.js'
import { Axis, ticksTo } from './axis.js'
import { seriesColour, Tip } from './tip.js'
import { useWidth } from './use-width.js'

export interface TimeSeries {
  readonly name: string
  /** One for each slot; null: nothing was measured. */
  readonly values: readonly (number | null)[]
  /** Its colour, 0 to 5. Default: its place. */
  readonly rank?: number
}

export interface TimeChartProps {
  /** What it shows, for screen readers. */
  readonly label: string
  readonly kind: 'lines' | 'areas'
  /** The ends of the slots, ms since 1970, ascending. */
  readonly ends: readonly number[]
  readonly series: readonly TimeSeries[]
  readonly show: (value: number) => string
  /** The top of the axis. Default: by the values. */
  readonly top?: number
  /** The smallest step of the axis. */
  readonly least?: number
}

const height = 132
const margin = { top: 8, right: 6, bottom: 20, left: 54 }
const minuteMs = 60_000
/** The shortest time that is drawn. */
const shortestMs = 5 * minuteMs

export function TimeChart(props: TimeChartProps) {
  const { label, kind, ends, series, show, top: wanted, least = 0.001 } = props
  const [box, width] = useWidth()
  const [at, setAt] = useState<number | undefined>()
  const end = ends.at(-1) ?? Date.now()
  const start = Math.min(ends[0] ?? end, end - shortestMs)
  const inner = width - margin.left - margin.right
  const x = (ms: number) => margin.left + (inner * (ms - start)) / (end - start)
  const heights = kind === 'areas' ? stacked(series) : series.map(({ values }) => values)
  const highest = Math.max(0, ...heights.flat().map((value) => value ?? 0))
  const ticks = wanted === undefined ? ticksTo(highest, least) : [0, wanted / 2, wanted]
  const top = ticks.at(-1)!
  const bottomY = height - margin.bottom
  const y = (value: number) => margin.top + (bottomY - margin.top) * (1 - Math.min(1, value / top))
  const rankOf = (i: number) => series[i]!.rank ?? i
  const slot = at === undefined || at >= ends.length ? undefined : at
  return (
    <div ref={box} class="chart" onMouseLeave={() => setAt(undefined)}>
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`${label}, the last ${Math.round((end - start) / minuteMs)} minutes`}
        onMouseMove={(event) => {
          const left = event.clientX - event.currentTarget.getBoundingClientRect().left
          setAt(nearest(ends, start + ((left - margin.left) / inner) * (end - start)))
        }}
      >
        <Axis {...{ ticks, y, show }} left={margin.left} right={width - margin.right} />
        {times(start, end, inner).map((ms) => (
          <text key={ms} class="axis" x={x(ms)} y={height - 4} text-anchor="middle">
            {clock(ms)}
          </text>
        ))}
        {heights.map((values, i) =>
          kind === 'areas' ? (
            <path
              key={i}
              class="area"
              style={seriesColour(rankOf(i))}
              d={areaPath(ends, values, heights[i - 1], x, y)}
            />
          ) : (
            <path
              key={i}
              class="line"
              style={seriesColour(rankOf(i))}
              d={linePath(ends, values, x, y)}
            />
          ),
        )}
        {slot !== undefined && (
          <line
            class="pointer"
            x1={x(ends[slot]!)}
            x2={x(ends[slot]!)}
            y1={margin.top}
            y2={bottomY}
          />
        )}
      </svg>
      {slot !== undefined && (
        <Tip
          left={x(ends[slot]!)}
          width={width}
          title={`${clock(ends[slot]!, true)} UTC`}
          rows={series.flatMap(({ name, values }, i) => {
            const value = values[slot]
            if (value === null || value === undefined || (kind === 'areas' && value === 0))
              return []
            return [{ key: name, name, rank: rankOf(i), text: show(value) }]
          })}
          none="Nothing"
        />
      )}
    </div>
  )
}

/** The upper edge of each area: its values on top of those before it. */
function stacked(series: readonly TimeSeries[]): number[][] {
  const sums: number[][] = []
  for (const { values } of series) {
    const below = sums.at(-1)
    sums.push(values.map((value, i) => (value ?? 0) + (below?.[i] ?? 0)))
  }
  return sums
}

type Scale = (value: number) => number
type Values = readonly (number | null)[]

function linePath(ends: readonly number[], values: Values, x: Scale, y: Scale): string {
  let path = ''
  for (const [i, value] of values.entries()) {
    if (value === null) continue
    const isNew = i === 0 || values[i - 1] === null
    path += `${isNew ? 'M' : 'L'}${x(ends[i]!).toFixed(1)} ${y(value).toFixed(1)}`
    // A lone value would have no length: a dot, by its round ends.
    if (isNew && (values[i + 1] ?? null) === null) path += 'h0.01'
  }
  return path
}

function areaPath(
  ends: readonly number[],
  upper: Values,
  lower: Values | undefined,
  x: Scale,
  y: Scale,
): string {
  if (upper.every((value, i) => (value ?? 0) === (lower?.[i] ?? 0))) return ''
  const edge = (values: Values | undefined) =>
    ends.map((end, i) => `${x(end).toFixed(1)} ${y(values?.[i] ?? 0).toFixed(1)}`)
  return `M${edge(upper).join('L')}L${edge(lower).reverse().join('L')}Z`
}

function nearest(ends: readonly number[], ms: number): number | undefined {
  let found: number | undefined
  for (const [i, end] of ends.entries()) {
    if (found === undefined || Math.abs(end - ms) < Math.abs(ends[found]! - ms)) found = i
  }
  return found
}

/** Round times, as many as fit. */
function times(start: number, end: number, width: number): number[] {
  const most = Math.max(1, Math.floor(width / 76))
  const stepMs =
    minuteMs * ([1, 2, 5, 10, 15, 30].find((n) => (end - start) / (n * minuteMs) <= most) ?? 60)
  const first = Math.ceil(start / stepMs) * stepMs
  return Array.from({ length: most + 1 }, (_, i) => first + i * stepMs).filter(
    // Half a label wide, so that none is cut.
    (ms) => ms <= end - ((end - start) * 16) / width,
  )
}

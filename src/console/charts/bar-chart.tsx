/**
 * Stacked bars over time. A table below has the same values, for screen readers too.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { dateTime } from '../format.js'
import type { Bars } from '../usage/series.js'
import { Axis, ticksTo } from './axis.js'
import { seriesColour, Tip } from './tip.js'
import { useWidth } from './use-width.js'

interface BarChartProps {
  readonly bars: Bars
  readonly per: 'hour' | 'day'
  /** The measure of the bars, with its unit. */
  readonly label: string
  readonly show: (value: number) => string
  readonly showShort: (value: number) => string
}

const height = 240
const margin = { top: 12, right: 8, bottom: 24, left: 56 }

export function BarChart({ bars, per, label, show, showShort }: BarChartProps) {
  const [box, width] = useWidth()
  const [at, setAt] = useState<number | undefined>()

  const { slots, series } = bars
  const sums = slots.map((_, i) => series.reduce((sum, { values }) => sum + values[i]!, 0))
  const ticks = ticksTo(Math.max(0, ...sums))
  const top = ticks.at(-1)!
  const inner = width - margin.left - margin.right
  const step = inner / slots.length
  const gap = step > 6 ? Math.min(6, step * 0.25) : 0.5
  const x = (slot: number) => margin.left + slot * step
  const y = (value: number) =>
    margin.top + (height - margin.top - margin.bottom) * (1 - value / top)
  // As many times below the axis as fit.
  const every = Math.max(1, Math.ceil(slots.length / Math.max(1, Math.floor(inner / 84))))

  return (
    <div ref={box} class="chart" onMouseLeave={() => setAt(undefined)}>
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`${label}, per ${per}. The table below has the same values.`}
        onMouseMove={(event) => {
          const left = event.clientX - event.currentTarget.getBoundingClientRect().left
          const slot = Math.floor((left - margin.left) / step)
          setAt(slot >= 0 && slot < slots.length ? slot : undefined)
        }}
      >
        <Axis {...{ ticks, y, show: showShort }} left={margin.left} right={width - margin.right} />
        {at !== undefined && (
          <rect
            class="band"
            x={x(at)}
            y={margin.top}
            width={step}
            height={height - margin.top - margin.bottom}
          />
        )}
        {slots.map((slot, i) => {
          let below = 0
          return (
            <g key={slot}>
              {series.map(({ key, values }, rank) => {
                const value = values[i]!
                if (value === 0) return null
                const base = below
                below += value
                return (
                  <rect
                    key={key}
                    class="area"
                    style={seriesColour(rank)}
                    x={x(i) + gap / 2}
                    y={y(below)}
                    width={Math.max(1, step - gap)}
                    height={Math.max(0.5, y(base) - y(below))}
                  />
                )
              })}
              {i % every === 0 && (
                <text class="axis" x={x(i) + step / 2} y={height - 6} text-anchor="middle">
                  {per === 'day' ? dateTime(slot).slice(5, 10) : dateTime(slot).slice(5, 16)}
                </text>
              )}
            </g>
          )
        })}
      </svg>
      {at !== undefined && (
        <Tip
          left={x(at) + step / 2}
          width={width}
          title={per === 'day' ? dateTime(slots[at]!).slice(0, 10) : `${dateTime(slots[at]!)} UTC`}
          rows={series
            .map(({ key, name, values }, rank) => ({ key, name, rank, value: values[at]! }))
            .filter(({ value }) => value > 0)
            .map((row) => ({ ...row, text: show(row.value) }))}
          total={show(sums[at]!)}
          none="Nothing was used"
        />
      )}
    </div>
  )
}

/**
 * Stacked bars over time. A table below has the same values, for screen readers too.
 *
 * @module
 */

import { useEffect, useRef, useState } from 'preact/hooks'
import { dateTime } from '../format.js'
import { type Bars, ticksTo } from './series.js'

export interface ChartProps {
  readonly bars: Bars
  readonly per: 'hour' | 'day'
  /** The measure of the bars, with its unit. */
  readonly label: string
  readonly show: (value: number) => string
  readonly showShort: (value: number) => string
}

const height = 240
const margin = { top: 12, right: 8, bottom: 24, left: 56 }

export function Chart({ bars, per, label, show, showShort }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(800)
  const [at, setAt] = useState<number | undefined>()
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const observer = new ResizeObserver(() => setWidth(Math.max(240, current.clientWidth)))
    observer.observe(current)
    return () => observer.disconnect()
  }, [])

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
        {ticks.map((tick) => (
          <g key={tick}>
            <line
              class="grid"
              x1={margin.left}
              x2={width - margin.right}
              y1={y(tick)}
              y2={y(tick)}
            />
            <text class="axis" x={margin.left - 8} y={y(tick) + 4} text-anchor="end">
              {showShort(tick)}
            </text>
          </g>
        ))}
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
                    class={`series-${rank}`}
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
        />
      )}
    </div>
  )
}

interface TipProps {
  readonly left: number
  readonly width: number
  readonly title: string
  readonly rows: readonly { key: string; name: string; rank: number; text: string }[]
  readonly total: string
}

function Tip({ left, width, title, rows, total }: TipProps) {
  const side = left > width / 2 ? { right: `${width - left + 12}px` } : { left: `${left + 12}px` }
  return (
    <div class="tip" style={side} aria-hidden="true">
      <p class="tip-title">{title}</p>
      {rows.map(({ key, name, rank, text }) => (
        <p key={key} class="tip-row">
          <span class={`swatch swatch-${rank}`} />
          <span class="tip-name">{name}</span>
          <span class="num">{text}</span>
        </p>
      ))}
      <p class="tip-row tip-total">
        <span class="tip-name">{rows.length === 0 ? 'Nothing was used' : 'Total'}</span>
        <span class="num">{total}</span>
      </p>
    </div>
  )
}

/** The legend of colours. */
export function Legend({ bars, show }: { bars: Bars; show: (value: number) => string }) {
  return (
    <ul class="legend">
      {bars.series.map(({ key, name, total }, rank) => (
        <li key={key}>
          <span class={`swatch swatch-${rank}`} aria-hidden="true" />
          <span class="legend-name">{name}</span> <span class="faint num">{show(total)}</span>
        </li>
      ))}
    </ul>
  )
}

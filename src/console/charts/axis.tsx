/**
 * The vertical axis of a chart: its numbers, and their lines.
 *
 * @module
 */

/**
 * About four round numbers from 0 to at least `max`.
 *
 * @param least - The smallest step: 1 for what is counted.
 */
export function ticksTo(max: number, least = 1): number[] {
  if (max <= 0) return [0, least]
  const rough = max / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const factor = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough)!
  const step = Math.max(least, factor * power)
  const count = Math.ceil(max / step)
  return Array.from({ length: count + 1 }, (_, i) => i * step)
}

interface AxisProps {
  readonly ticks: readonly number[]
  /** The height of a value. */
  readonly y: (value: number) => number
  readonly show: (value: number) => string
  /** Where its lines begin and end. */
  readonly left: number
  readonly right: number
}

export function Axis({ ticks, y, show, left, right }: AxisProps) {
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={left} x2={right} y1={y(tick)} y2={y(tick)} />
          <text class="axis" x={left - 6} y={y(tick) + 4} text-anchor="end">
            {show(tick)}
          </text>
        </g>
      ))}
    </>
  )
}

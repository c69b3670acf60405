/**
 * A curve in the unit square.
 *
 * @module
 */

import { html, type Markup } from './markup.js'

interface LinePlot {
  readonly title: string
  /** Stands at the right of the title. */
  readonly note: string
  readonly across: string
  readonly up: string
  /** Shares, from left to right or back. */
  readonly points: readonly (readonly [x: number, y: number])[]
  /** What each point's tooltip says. */
  readonly tips: readonly string[]
  /** Whether chance alone gives the diagonal. */
  readonly diagonal?: boolean
}

const side = 200
const margin = { left: 48, top: 30, right: 12, bottom: 40 }
const width = margin.left + side + margin.right
const height = margin.top + side + margin.bottom

/** Points that are no numbers are left out. */
export function linePlot({ title, note, across, up, points, tips, diagonal }: LinePlot): Markup {
  const x = (share: number) => round(margin.left + share * side)
  const y = (share: number) => round(margin.top + (1 - share) * side)
  const shown = points.flatMap(([px, py], i) => {
    return Number.isNaN(px) || Number.isNaN(py) ? [] : [{ x: x(px), y: y(py), tip: tips[i] ?? '' }]
  })
  return html`<svg
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    role="img"
    aria-label="${title}, ${note}: ${up} by ${across}"
  >
    <text class="strong" x="${margin.left}" y="16">${title}</text>
    <text x="${x(1)}" y="16" text-anchor="end">${note}</text>
    ${gridOf(x, y)}
    ${diagonal ? html`<path class="ideal" d="M${x(0)} ${y(0)}L${x(1)} ${y(1)}" />` : undefined}
    <path
      class="curve"
      d="${shown.map((at, i) => `${i === 0 ? 'M' : 'L'}${at.x} ${at.y}`).join('')}"
    />
    ${shown.map(
      (at) =>
        html`<circle class="point" cx="${at.x}" cy="${at.y}" r="2"
          ><title>${at.tip}</title></circle
        >`,
    )}
    <text x="${x(0.5)}" y="${height - 6}" text-anchor="middle">${across}</text>
    <text transform="translate(10 ${y(0.5)}) rotate(-90)" text-anchor="middle">${up}</text>
  </svg>`
}

/** A line and two numbers at each quarter. */
export function gridOf(x: (share: number) => number, y: (share: number) => number): Markup[] {
  return [0, 0.25, 0.5, 0.75, 1].map(
    (tick) =>
      html`<path class="grid" d="M${x(0)} ${y(tick)}H${x(1)}M${x(tick)} ${y(0)}V${y(1)}" />
        <text x="${x(0) - 6}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>
        <text x="${x(tick)}" y="${y(0) + 16}" text-anchor="middle">${tick}</text>`,
  )
}

export function round(value: number): number {
  return Math.round(value * 100) / 100
}

/**
 * Cost over unique tokens as an SVG: a panel for each variable, with its points and the fit.
 *
 * Axes are linear and begin at 0, so that a line looks like one. Colours follow the reader's theme;
 * the background is the page's.
 *
 * @module
 */

import type { Fit, Point } from './fit.js'

export interface Panel {
  readonly title: string
  readonly points: readonly (Point & { readonly label: string })[]
  readonly fit: Fit
}

const panelWidth = 320
const height = 300
/** Around the axes of a panel: for titles, numbers and units. */
const margin = { left: 52, right: 24, top: 52, bottom: 84 }
const inner = {
  width: panelWidth - margin.left - margin.right,
  height: height - margin.top - margin.bottom,
}
const ticks = 4
/** Straight pieces of a drawn fit. */
const pieces = 48
/** Pixels between the labels of two points, and where a label does not touch the axis. */
const minLabelDistance = 40
const minLabelX = margin.left + 24

const style = `
  text { font: 12px system-ui, sans-serif; fill: #59636e }
  .title { font-weight: 600; font-size: 13px; fill: #1f2328 }
  .axis { stroke: #d1d9e0; fill: none }
  .fit { stroke: #0969da; stroke-width: 1.5; fill: none }
  .point { fill: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .title { fill: #f0f6fc }
    .axis { stroke: #3d444d }
    .fit { stroke: #4493f8 }
    .point { fill: #f0883e }
  }`

/** @param caption - Subject, machine and date. */
export function plot(panels: readonly Panel[], caption: string): string {
  const width = Math.max(1, panels.length) * panelWidth
  const body = panels.map(
    (panel, i) => `<g transform="translate(${i * panelWidth} 0)">\n${draw(panel)}\n</g>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>Cost over unique prompt tokens</title>`,
    `<style>${style}\n</style>`,
    ...body,
    text(margin.left, height - 10, caption),
    '</svg>\n',
  ].join('\n')
}

function draw({ title, points, fit }: Panel): string {
  const bottom = margin.top + inner.height
  const largest = Math.max(...points.map(({ x }) => x))
  const xs = scale(largest, margin.left, inner.width)
  const slowest = Math.max(...points.map(({ x, y }) => Math.max(y, fit.at(x))))
  // Seconds where milliseconds would be thousands.
  const [unit, perUnit] = slowest >= 2000 ? ['s', 1000] : ['ms', 1]
  const ys = scale(slowest / perUnit, bottom, -inner.height)
  const at = ({ x, y }: Point) => [xs.at(x), ys.at(y / perUnit)] as const

  const line = Array.from({ length: pieces + 1 }, (_, i) => (largest * i) / pieces)
    .filter((x) => fit.at(x) >= 0)
    .map((x) =>
      at({ x, y: fit.at(x) })
        .map(round)
        .join(','),
    )

  return [
    text(margin.left, 18, title, 'title'),
    text(margin.left, 36, `time, ${unit}; R² ${fit.r2.toFixed(4)}`),
    `<path class="axis" d="M${margin.left} ${margin.top}V${bottom}H${margin.left + inner.width}"/>`,
    ...xs.ticks.map((x) => text(xs.at(x), bottom + 18, short(x), '', 'middle')),
    ...ys.ticks.map((y) => text(margin.left - 8, ys.at(y) + 4, short(y), '', 'end')),
    text(margin.left + inner.width / 2, bottom + 38, 'unique prompt tokens', '', 'middle'),
    `<polyline class="fit" points="${line.join(' ')}"/>`,
    ...points.map((point) => {
      const [x, y] = at(point).map(round)
      return `<circle class="point" cx="${x}" cy="${y}" r="3.5"/>`
    }),
    ...labelled(points.map((point) => ({ at: at(point), label: point.label }))),
  ].join('\n')
}

interface Label {
  readonly at: readonly [x: number, y: number]
  readonly label: string
}

/**
 * Labels from the last point on, as far as there is room, above and to the left of their points.
 */
function labelled(labels: readonly Label[]): string[] {
  const drawn: string[] = []
  let [lastX, lastY] = [Infinity, Infinity]
  for (const { at, label } of labels.toReversed()) {
    const [x, y] = at
    if (Math.hypot(lastX - x, lastY - y) < minLabelDistance || x < minLabelX) continue
    drawn.push(text(x - 7, y - 5, label, '', 'end'))
    ;[lastX, lastY] = [x, y]
  }
  return drawn
}

/** From 0 to the first whole tick at or above `most`. */
function scale(most: number, start: number, length: number) {
  const step = niceStep(most / ticks)
  const max = Math.ceil(most / step) * step
  return {
    max,
    ticks: Array.from({ length: Math.round(max / step) + 1 }, (_, i) => i * step),
    at: (value: number) => start + (value / max) * length,
  }
}

/** The least of 1, 2, 2.5 or 5 times a power of ten that is not below. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= least) ?? 10)
}

function text(x: number, y: number, content: string, kind = '', anchor = 'start'): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const of = kind === '' ? '' : ` class="${kind}"`
  return `<text${of} x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escaped}</text>`
}

/** Thousands as `k`, as there is little room below an axis. */
function short(value: number): string {
  return value >= 1000 ? `${round(value / 1000)}k` : String(round(value))
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

/**
 * The latency of answers: a histogram over a logarithmic axis.
 *
 * @module
 */

import type { Column } from '../figures/histogram.js'
import { showAmount, showCount } from '../numbers.js'
import type { Report } from '../report.js'
import { round } from './line-plot.js'
import { html, type Markup } from './markup.js'

const inner = { width: 580, height: 150 }
const margin = { left: 10, top: 48, right: 10, bottom: 40 }
const width = margin.left + inner.width + margin.right
const height = margin.top + inner.height + margin.bottom

/** Empty without measurements. */
export function latencyPlot({ columns, p50, p95, p99 }: Report['latencyMs']): Markup | undefined {
  const first = columns[0]
  const last = columns.at(-1)
  if (first === undefined || last === undefined) return undefined
  const [from, to] = [Math.log(first.from), Math.log(last.to)]
  const x = (ms: number) =>
    round(margin.left + ((Math.log(Math.max(ms, first.from)) - from) / (to - from)) * inner.width)
  const bottom = margin.top + inner.height
  const most = Math.max(...columns.map(({ count }) => count))
  const barHeight = (count: number) =>
    count === 0 ? 0 : round(Math.max(1, (count / most) * inner.height))
  const marks = [
    ['median', p50],
    ['95 %', p95],
    ['99 %', p99],
  ] as const
  return html`<svg
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    role="img"
    aria-label="Histogram of the latency, median ${showAmount(p50)} ms"
  >
    ${columns.map(
      ({ from, to, count }) =>
        html`<rect
          class="bar"
          x="${x(from)}"
          y="${bottom - barHeight(count)}"
          width="${round(Math.max(1, x(to) - x(from) - 1))}"
          height="${barHeight(count)}"
          ><title>
            ${`${showAmount(from)} to ${showAmount(to)} ms: ${showCount(count)} rows`}
          </title></rect
        > `,
    )}
    <path class="axis" d="M${margin.left} ${bottom}H${margin.left + inner.width}" />
    ${ticksOf(columns).map(
      (ms) =>
        html`<path class="axis" d="M${x(ms)} ${bottom}v5" />
          <text x="${x(ms)}" y="${bottom + 19}" text-anchor="${anchor(x(ms))}"
            >${showAmount(ms)}</text
          >`,
    )}
    ${marks.map(
      ([name, ms], i) =>
        html`<path class="mark" d="M${x(ms)} ${margin.top - 4 - i * 14}V${bottom}" />
          <text
            class="strong"
            x="${x(ms) + (x(ms) > width / 2 ? -4 : 4)}"
            y="${margin.top - 8 - i * 14}"
            text-anchor="${x(ms) > width / 2 ? 'end' : 'start'}"
            >${name} ${showAmount(ms)}</text
          >`,
    )}
    <text x="${width / 2}" y="${height - 6}" text-anchor="middle">
      milliseconds from asking to the answer, logarithmic
    </text>
  </svg>`
}

/** 1, 2 and 5 times powers of ten within the columns; without them, the ends. */
function ticksOf(columns: readonly Column[]): number[] {
  const [least, greatest] = [columns[0]!.from, columns.at(-1)!.to]
  const power = Math.floor(Math.log10(least))
  const ticks: number[] = []
  for (let exponent = power; 10 ** exponent <= greatest; exponent++) {
    for (const factor of [1, 2, 5]) {
      const tick = factor * 10 ** exponent
      if (tick >= least && tick <= greatest) ticks.push(tick)
    }
  }
  return ticks.length > 1 ? ticks : [least, greatest]
}

/** Labels at the ends stay inside. */
function anchor(x: number): string {
  if (x < 30) return 'start'
  return x > width - 30 ? 'end' : 'middle'
}

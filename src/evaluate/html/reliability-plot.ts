/**
 * Reliability diagram: accuracy and number of answers by confidence.
 *
 * @module
 */

import { showCount, showInterval, showShare } from '../numbers.js'
import type { Figures } from '../figures/tally.js'
import { gridOf, round } from './line-plot.js'
import { html, type Markup } from './markup.js'

const side = 174
const margin = { left: 42, top: 30, right: 10, bottom: 108 }
const width = margin.left + side + margin.right
const height = margin.top + side + margin.bottom
/** The counts of answers are bars below the diagram, downwards. */
const countsTop = margin.top + side + 42
const countsHeight = 42

/** How to read such a diagram. */
export const reliabilityNote = html`<p class="soft">
  Well calibrated answers stand on the dashed line: of those with a confidence of .8, eight in ten
  are right. Bars under it are too sure of themselves. Each point stands for a tenth of the answers,
  with the 95 % interval of its accuracy.
</p>`

/** @param title - Which answers these are. */
export function reliabilityPlot(title: string, { bins, massBins, ece, answers }: Figures): Markup {
  const x = (share: number) => round(margin.left + share * side)
  const y = (share: number) => round(margin.top + (1 - share) * side)
  const step = 1 / bins.length
  const most = Math.max(...bins.map((bin) => bin.answers))
  const filled = bins.map((bin, i) => ({ ...bin, from: i * step })).filter((bin) => bin.answers > 0)
  const label = `Reliability of ${title}: ECE ${showShare(ece)} over ${showCount(answers)} answers`
  return html`<svg
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    role="img"
    aria-label="${label}"
  >
    <text class="strong" x="${margin.left}" y="16">${title}</text>
    <text x="${x(1)}" y="16" text-anchor="end">ECE ${showShare(ece)}</text>
    ${gridOf(x, y)}
    ${filled.map(
      ({ from, accuracy, confidence, answers: count }) =>
        html`<g>
          <title>
            ${`confidence ${showShare(confidence)}, accuracy ${showShare(accuracy)}, ${showCount(count)} answers`}
          </title>
          <rect
            class="bar"
            x="${x(from) + 1}"
            y="${y(accuracy)}"
            width="${round(side * step - 2)}"
            height="${round(accuracy * side)}"
          />
          <rect
            class="faint"
            x="${x(from) + 1}"
            y="${countsTop}"
            width="${round(side * step - 2)}"
            height="${round(Math.max(1, (count / most) * countsHeight))}"
          />
        </g>`,
    )}
    ${massBins.map(
      ({ answers: count, confidence, accuracy, interval: [low, high] }) =>
        html`<g>
          <title>
            ${`mean confidence ${showShare(confidence)}, accuracy ${showShare(accuracy)} (95 %: ${showInterval([low, high])}), ${showCount(count)} answers`}
          </title>
          <path class="whisker" d="M${x(confidence)} ${y(low)}V${y(high)}" />
          <circle class="point" cx="${x(confidence)}" cy="${y(accuracy)}" r="3.5" />
        </g>`,
    )}
    <path class="ideal" d="M${x(0)} ${y(0)}L${x(1)} ${y(1)}" />
    <text x="${x(0.5)}" y="${y(0) + 32}" text-anchor="middle">confidence</text>
    <text x="${x(0.5)}" y="${height - 6}" text-anchor="middle">
      answers, up to ${showCount(most)}
    </text>
    <text transform="translate(10 ${y(0.5)}) rotate(-90)" text-anchor="middle">accuracy</text>
  </svg>`
}

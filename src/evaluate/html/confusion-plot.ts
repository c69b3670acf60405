/**
 * The confusion matrix of a choice as a heat map.
 *
 * @module
 */

import { showCount, showPercent } from '../numbers.js'
import type { ChoiceFigures } from '../report.js'
import { html, type Markup } from './markup.js'

const longestLabel = 26
/** Widths of a letter, in large and in small matrices. */
const letters = { small: 5.5, large: 7 }
/** Counts stand in the cells of small matrices. */
const countedOptions = 20
const sides = { least: 10, most: 36, together: 720 }

/** A row for each right option, a column for each given one, both in the order of the table. */
export function confusionPlot({ question, options, confusion }: ChoiceFigures): Markup {
  const n = options.length
  const side = Math.round(Math.max(sides.least, Math.min(sides.most, sides.together / n)))
  const text = side >= 13 ? '' : 'small'
  const letter = text === 'small' ? letters.small : letters.large
  const labels = Math.ceil(Math.max(...options.map(({ name }) => short(name).length)) * letter) + 12
  const place = (i: number) => labels + i * side
  const [width, height] = [place(n) + 1, place(n) + 1]
  const middle = side / 2 + 4
  return html`<div class="scroll">
    <svg
      viewBox="0 0 ${width} ${height}"
      width="${width}"
      height="${height}"
      class="wide"
      role="img"
      aria-label="Confusion of the options of ${question}: right ones from top to bottom, given ones from left to right"
    >
      ${options.map(
        ({ name }, i) =>
          html`<text class="${text}" x="${labels - 6}" y="${place(i) + middle}" text-anchor="end"
              >${short(name)}<title>${name}</title></text
            ><text
              class="${text}"
              transform="translate(${place(i) + middle} ${labels - 6}) rotate(-90)"
              >${short(name)}<title>${name}</title></text
            >`,
      )}
      <path class="grid" d="M${labels} ${labels}h${n * side}v${n * side}h-${n * side}z" />
      ${confusion.map((row, i) =>
        row.map((count, j) => {
          if (count === 0) return undefined
          const share = count / options[i]!.right
          const tip = `right ${options[i]!.name}, answered ${options[j]!.name}: ${showCount(count)} (${showPercent(share)})`
          return html`<g
            ><title>${tip}</title
            ><rect
              class="${i === j ? 'hit' : 'miss'}"
              fill-opacity="${opacity(share)}"
              x="${place(j)}"
              y="${place(i)}"
              width="${side}"
              height="${side}"
            />${
              n <= countedOptions
                ? html`<text
                    class="strong"
                    x="${place(j) + side / 2}"
                    y="${place(i) + middle}"
                    text-anchor="middle"
                    >${showCount(count)}</text
                  >`
                : undefined
            }</g
          >`
        }),
      )}
    </svg>
  </div>`
}

/** The rarest mistake can be seen, too. */
function opacity(share: number): number {
  return Math.round((0.15 + 0.75 * share) * 100) / 100
}

function short(name: string): string {
  return name.length <= longestLabel ? name : `${name.slice(0, longestLabel - 1)}…`
}

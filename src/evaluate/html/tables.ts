/**
 * Tables of a report's page.
 *
 * @module
 */

import type { BinaryFigures } from '../figures/binary-tally.js'
import type { Quantiles } from '../figures/histogram.js'
import {
  binaryCells,
  differenceCells,
  figureCells,
  figureHead,
  quantileCells,
  quantileHead,
  showCount,
} from '../numbers.js'
import type { Comparison, Report } from '../report.js'
import type { Figures } from '../figures/tally.js'
import { html, type Markup } from './markup.js'

type Cell = string | Markup

/** A row for each group of answers. */
export function figuresTable(groups: readonly (readonly [name: string, Figures])[]): Markup {
  const flips = groups.some(([, one]) => one.flips !== undefined)
  return table(
    ['', ...figureHead, 'label mass', '5 %', ...(flips ? ['flips', 'shift'] : [])],
    groups.map(([name, one]) => [name, ...figureCells(one, flips)]),
  )
}

/** @param rule - When an answer counts as yes. */
export function binaryTable(rule: string, figures: BinaryFigures): Markup {
  return table(
    [
      '',
      'right answer yes',
      'precision',
      'recall',
      'F1',
      'Brier of yes',
      'AUC',
      'average precision',
    ],
    [[rule, ...binaryCells(figures)]],
  )
}

export function mistakesTable({ mistakes, mistakesNotToldApart }: Report): Markup {
  const most = mistakes[0]!.count
  const rows = mistakes.map(({ question, wanted, got, count }) => {
    const share = Math.max(1, Math.round((80 * count) / most))
    const bar = html`<span class="meter" style="width:${share}px"></span> ${showCount(count)}`
    return [question, wanted, got, bar]
  })
  const left =
    mistakesNotToldApart > 0 &&
    html`<p class="soft">${showCount(mistakesNotToldApart)} rarer ones are not told apart.</p>`
  return html`${table(['question', 'right', 'answered', 'times'], rows, 3)}${left || undefined}`
}

/** Two runs beside each other, and the answers that one of them has right. */
export function comparisonTables({ accuracy, brier, differing }: Comparison): Markup {
  const rows = [
    ['accuracy', ...differenceCells(accuracy)],
    ['Brier', ...differenceCells(brier)],
  ]
  const answers = differing.map(({ line, question, wanted, here, there }) => [
    question,
    wanted,
    here,
    there,
    String(line),
  ])
  return html`${table(['', 'here', 'there', 'difference', '95 %'], rows)}
  ${
    answers.length > 0
      ? html`<h3>Answers that one of them has right</h3>
          ${table(['question', 'right', 'here', 'there', 'line'], answers, 3)}`
      : undefined
  }`
}

export function quantilesTable(rows: readonly (readonly [name: string, Quantiles])[]): Markup {
  return table(
    quantileHead,
    rows.map(([name, quantiles]) => [name, ...quantileCells(quantiles)]),
  )
}

/** @param texts - The first columns that are text; the others are numbers. */
export function table(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  texts: 1 | 3 | 4 = 1,
): Markup {
  return html`<div class="scroll">
    <table class="texts${texts}">
      <thead>
        <tr>
          ${head.map((cell) => html`<th scope="col">${cell}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, i) => (i < texts ? nameCell(cell) : html`<td>${cell}</td>`))}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`
}

/** Long names are cut off on the page; the tooltip has them whole. */
function nameCell(name: Cell): Markup {
  return html`<td class="name" title="${name}">${name}</td>`
}

/**
 * Curves, thresholds, options and wrong answers on a report's page.
 *
 * @module
 */

import type { BinaryFigures } from '../figures/binary-tally.js'
import { showCount, showExactly, showPercent, showShare, thresholdCells } from '../numbers.js'
import type { ChoiceFigures, Report } from '../report.js'
import type { Figures } from '../figures/tally.js'
import { confusionPlot } from './confusion-plot.js'
import { linePlot } from './line-plot.js'
import { html, type Markup } from './markup.js'
import { table } from './tables.js'

const shownNouls = 10
const shownMatrices = 5

/** Curves and thresholds of the first nouls. */
export function noulDetails({ questions }: Report): Markup[] {
  return questions
    .flatMap(({ name, noul }) => (noul && noul.thresholds.length > 0 ? [{ name, noul }] : []))
    .slice(0, shownNouls)
    .map(({ name, noul }) => curvesOf(name, noul))
}

function curvesOf(name: string, { curve, auc, averagePrecision, thresholds }: BinaryFigures) {
  const tips = curve.map(
    ({ threshold, precision, recall, falseYes }) =>
      `from ${showExactly(threshold)} on: recall ${showShare(recall)}, false yes ${showShare(falseYes)}, precision ${showShare(precision)}`,
  )
  const points = curve.map(({ recall, falseYes }) => [falseYes, recall] as const)
  return html`<h3>${name}</h3>
    <div class="plots">
      ${linePlot({
        ...{ title: 'ROC', note: `AUC ${showShare(auc)}`, diagonal: true },
        ...{ across: 'noes taken for yes', up: 'yeses found' },
        ...{ points: [[0, 0], ...points], tips: ['', ...tips] },
      })}
      ${linePlot({
        ...{ title: 'Precision', note: `average ${showShare(averagePrecision)}` },
        ...{ across: 'yeses found', up: 'precision', tips },
        points: curve.map(({ recall, precision }) => [recall, precision]),
      })}
    </div>
    ${table(
      ['yes from … on', 'threshold', 'precision', 'recall', 'F1', 'accuracy'],
      thresholds.map(thresholdCells),
    )}`
}

export function coveragePlot(title: string, { coverage }: Figures): Markup {
  const last = coverage.at(-1)
  return linePlot({
    ...{ title, note: `all: ${showPercent(last?.error ?? NaN)} wrong` },
    ...{ across: 'share of the answers that are taken', up: 'wrong among them' },
    points: coverage.map(({ coverage: taken, error }) => [taken, error]),
    tips: coverage.map(
      ({ coverage: taken, confidence, error }) =>
        `from a confidence of ${showExactly(confidence)} on: ${showPercent(taken)} taken, ${showPercent(error)} of them wrong`,
    ),
  })
}

/** The options of each choice, and which of them are taken for which. */
export function choiceDetails({ choices }: Report): Markup[] {
  return choices.map(
    (choice, i) =>
      html`<h3>${choice.question}</h3>
        ${i < shownMatrices ? confusionPlot(choice) : undefined} ${optionsTable(choice)}`,
  )
}

function optionsTable({ options, macro }: ChoiceFigures): Markup {
  const rows = options.map(({ name, right, answered, precision, recall, f1 }) => [
    name,
    ...[right, answered].map(showCount),
    ...[precision, recall, f1].map(showShare),
  ])
  const mean = [macro.precision, macro.recall, macro.f1].map(showShare)
  const head = ['option', 'right', 'answered', 'precision', 'recall', 'F1']
  return table(head, [...rows, ['mean of the options (macro)', '', '', ...mean]])
}

export function wrongTable({ wrong }: Report): Markup {
  return table(
    ['question', 'right', 'answered', 'state', 'line', 'confidence', 'of the right one'],
    wrong.map(({ line, question, wanted, got, confidence, ofRight, state = '' }) => [
      ...[question, wanted, got, state],
      ...[String(line), showShare(confidence), showShare(ofRight)],
    ]),
    4,
  )
}

/**
 * Thresholds, options and wrong answers in the report of `oi eval` for a terminal.
 *
 * @module
 */

import {
  showCount,
  showExactly,
  showInterval,
  showPercent,
  showShare,
  thresholdCells,
} from '../../evaluate/numbers.js'
import type { ChoiceFigures, Report } from '../../evaluate/report.js'
import { inColumns, shortName } from '../../terminal/text-table.js'

const shownNouls = 5
const shownChoices = 5
const shownOptions = 20
/** A larger matrix is wider than a terminal. */
const mostInMatrix = 8
const shownWrong = 10
const shownCoverages = [0.5, 0.7, 0.8, 0.9, 0.95, 1]

/** Bins of equally many answers. */
export function reliabilityLines({ overall: { massBins } }: Report): string[] {
  if (massBins.length === 0) return []
  const rows = massBins.map(({ answers, confidence, accuracy, interval }) => [
    ...[showShare(confidence), showCount(answers)],
    ...[showShare(accuracy), showInterval(interval)],
  ])
  return ['Reliability', ...inColumns([['confidence', 'answers', 'accuracy', '95 %'], ...rows])]
}

export function coverageLines({ overall: { coverage } }: Report): string[] {
  // Sums of floating numbers may lie a little below.
  const places = shownCoverages.map((least) =>
    coverage.find((point) => point.coverage >= least - 1e-9),
  )
  const rows = [...new Set(places)].flatMap((point) =>
    point === undefined
      ? []
      : [[showPercent(point.coverage), showExactly(point.confidence), showPercent(point.error)]],
  )
  if (rows.length < 2) return []
  const head = ['taken', 'confidence from', 'wrong']
  return ['If only the surest answers are taken', ...inColumns([head, ...rows], 0)]
}

export function thresholdBlocks({ questions }: Report): string[][] {
  const nouls = questions
    .flatMap(({ name, noul }) => (noul && noul.thresholds.length > 0 ? [{ name, noul }] : []))
    .slice(0, shownNouls)
  return nouls.map(({ name, noul }) => [
    `Thresholds of ${shortName(name)}, on these rows`,
    ...inColumns([
      ['', 'yes from', 'precision', 'recall', 'F1', 'accuracy'],
      ...noul.thresholds.map(thresholdCells),
    ]),
  ])
}

export function choiceBlocks({ choices }: Report): string[][] {
  return choices
    .slice(0, shownChoices)
    .flatMap((choice) => [optionLines(choice), matrixLines(choice)])
}

function optionLines({ question, options, macro }: ChoiceFigures): string[] {
  const rows = options
    .slice(0, shownOptions)
    .map(({ name, right, answered, precision, recall, f1 }) => [
      ...[shortName(name), showCount(right), showCount(answered)],
      ...[precision, recall, f1].map(showShare),
    ])
  const left = options.length - rows.length
  const mean = [macro.precision, macro.recall, macro.f1].map(showShare)
  return [
    `Options of ${shortName(question)}`,
    ...inColumns([
      ['', 'right', 'answered', 'precision', 'recall', 'F1'],
      ...rows,
      ...(left > 0 ? [[`and ${showCount(left)} more (--html)`, '', '', '', '', '']] : []),
      ['mean (macro)', '', '', ...mean],
    ]),
  ]
}

function matrixLines({ question, options, confusion }: ChoiceFigures): string[] {
  if (options.length > mostInMatrix) return []
  const head = options.map(({ name }) => shortName(name, 8))
  return [
    `Confusion of ${shortName(question)}: right ones below each other, given ones beside`,
    ...inColumns([
      ['', ...head],
      ...confusion.map((row, i) => [shortName(options[i]!.name, 16), ...row.map(showCount)]),
    ]),
  ]
}

export function wrongLines({ wrong, questions }: Report): string[] {
  if (wrong.length === 0) return []
  const several = questions.length > 1
  const rows = wrong
    .slice(0, shownWrong)
    .map(({ line, question, wanted, got, confidence, state = '' }) => [
      String(line),
      ...(several ? [shortName(question, 12)] : []),
      ...[shortName(wanted, 14), shortName(got, 14), shortName(state, 26)],
      showShare(confidence),
    ])
  const head = ['line', ...(several ? ['question'] : []), 'right', 'answered', 'state', 'sure']
  return ['Surest wrong answers', ...inColumns([head, ...rows], head.length - 1)]
}

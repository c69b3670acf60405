/**
 * The report of `oi eval` for a terminal or a text file.
 *
 * @module
 */

import {
  binaryCells,
  differenceCells,
  figureCells,
  figureHead,
  quantileCells,
  quantileHead,
  showAmount,
  showCost,
  showCount,
  showDuration,
  showPercent,
  showShare,
} from '../../evaluate/numbers.js'
import type { BinaryFigures } from '../../evaluate/figures/binary-tally.js'
import type { Report } from '../../evaluate/report.js'
import type { Figures } from '../../evaluate/figures/tally.js'
import { inColumns, oneLine, shortName } from '../../terminal/text-table.js'
import {
  choiceBlocks,
  coverageLines,
  reliabilityLines,
  thresholdBlocks,
  wrongLines,
} from './evaluation-details.js'

const shownQuestions = 20
const shownMistakes = 10

/** The last line has its end. Names are data, and shown without control characters. */
export function evaluationText(report: Report): string {
  const blocks = [
    headLines(report),
    groupLines(report),
    questionLines(report),
    ...binaryBlocks(report),
    ...thresholdBlocks(report),
    scoreLines(report),
    reliabilityLines(report),
    coverageLines(report),
    ...choiceBlocks(report),
    mistakeLines(report),
    wrongLines(report),
    ...againstBlocks(report),
    costLines(report),
  ]
  const filled = blocks.filter((lines) => lines.length > 0)
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function headLines({ file, models, rows, overall, url, whole }: Report): string[] {
  const by = models.map(({ name, readout }) => (readout ? `${name} (${readout})` : name))
  const refused = rows.refused === 0 ? '' : `, ${showCount(rows.refused)} refused`
  const lines = [
    `${oneLine(file)}: ${showCount(rows.answered)} of ${showCount(rows.inFile)} rows${refused}, ` +
      `${showCount(overall.answers)} answers`,
    `by ${oneLine(by.join(', '))}${url === undefined ? '' : ` at ${oneLine(url)}`}`,
    ...(whole ? [] : ['Ended early: the figures are of the rows so far.']),
    ...rows.refusals.map(({ line, message }) => `refused: line ${line}: ${oneLine(message)}`),
  ]
  return lines
}

function table(groups: readonly (readonly [name: string, Figures])[]): string[] {
  const flips = groups.some(([, { flips }]) => flips !== undefined)
  const head = ['', ...figureHead, 'mass', 'mass 5 %', ...(flips ? ['flips', 'shift'] : [])]
  const rows = groups.map(([name, figures]) => [name, ...figureCells(figures, flips)])
  return inColumns([head, ...rows])
}

function groupLines({ overall, types }: Report): string[] {
  const groups = Object.entries(types)
  return table(groups.length === 1 ? [groups[0]!] : [['all', overall], ...groups])
}

function questionLines({ questions, answersOfFurtherQuestions }: Report): string[] {
  if (questions.length < 2) return []
  const largest = questions.toSorted((a, b) => b.answers - a.answers).slice(0, shownQuestions)
  const left =
    questions.slice(shownQuestions).reduce((sum, { answers }) => sum + answers, 0) > 0 ||
    answersOfFurtherQuestions > 0
  return [
    'By question',
    ...table(largest.map((question) => [shortName(question.name), question])),
    ...(left ? [`and more (--json shows ${showCount(questions.length)})`] : []),
  ]
}

function binaryBlocks({ overall: { noul, other } }: Report): string[][] {
  return [
    ...(noul ? [binaryLines('Nouls: yes from a probability of .5 on', noul)] : []),
    ...(other ? [binaryLines('Catch-all options: yes where one is the likeliest', other)] : []),
  ]
}

function binaryLines(title: string, figures: BinaryFigures): string[] {
  return [
    title,
    ...inColumns([
      ['', 'yes', 'precision', 'recall', 'F1', 'Brier of yes', 'AUC', 'avg. prec.'],
      ['', ...binaryCells(figures)],
    ]),
  ]
}

function scoreLines({ overall: { score } }: Report): string[] {
  if (score === undefined) return []
  return [
    `Scores: the expected level is off by ${showAmount(score.meanError)} levels in the mean, ` +
      `by half a level at most in ${showPercent(score.withinHalf)}; ranked probability score ${showShare(score.ranked)}`,
  ]
}

function mistakeLines({ mistakes, questions }: Report): string[] {
  if (mistakes.length === 0) return []
  const several = questions.length > 1
  const rows = mistakes
    .slice(0, shownMistakes)
    .map(({ question, wanted, got, count }) => [
      ...(several ? [shortName(question)] : []),
      shortName(wanted),
      shortName(got),
      showCount(count),
    ])
  const head = [...(several ? ['question'] : []), 'right', 'answered', 'times']
  return ['Most frequent mistakes', ...inColumns([head, ...rows], head.length - 1)]
}

function againstBlocks({ against, questions }: Report): string[][] {
  if (against === undefined) return []
  const { file, models, answers, accuracy, brier, onlyHere, onlyThere, p, differing } = against
  const others = models.map(({ name }) => oneLine(name)).join(', ')
  const several = questions.length > 1
  const rows = differing
    .slice(0, shownMistakes)
    .map(({ line, question, wanted, here, there }) => [
      String(line),
      ...(several ? [shortName(question)] : []),
      ...[wanted, here, there].map((name) => shortName(name)),
    ])
  const head = ['line', ...(several ? ['question'] : []), 'right', 'here', 'there']
  return [
    [
      `Against ${file === undefined ? others : `${oneLine(file)} (${others})`}: ${showCount(answers)} answers of both`,
      ...inColumns([
        ['', 'here', 'there', 'difference', '95 %'],
        ['accuracy', ...differenceCells(accuracy)],
        ['Brier', ...differenceCells(brier)],
      ]),
      `right here alone ${showCount(onlyHere)}, there alone ${showCount(onlyThere)}; ` +
        `by chance with a probability of ${showShare(p)} (McNemar)`,
    ],
    ...(rows.length === 0
      ? []
      : [['Answers that one of them has right', ...inColumns([head, ...rows], head.length)]]),
  ]
}

function costLines({
  tokens,
  credits,
  latencyMs,
  modelMs,
  rows,
  reversed,
  ...report
}: Report): string[] {
  if (rows.answered === 0) return []
  const { input, cached, image, output } = tokens
  const images = image === 0 ? '' : `, ${showCount(image)} of images`
  return [
    `${showCount(input)} tokens in (${showPercent(cached / input)} cached${images}), ` +
      `${showCount(output)} out; ${showAmount(input / rows.answered)} in for a decision` +
      (reversed ? ', reversed questions included' : ''),
    ...(credits === undefined ? [] : [showCost(credits, rows.answered)]),
    `${showAmount(report.decisionsPerSecond)} decisions/s, ${showAmount(report.answersPerSecond)} ` +
      `answers/s in ${showDuration(report.seconds)}, ${report.concurrency} at the same time`,
    '',
    ...inColumns([
      quantileHead,
      ['latency', ...quantileCells(latencyMs)],
      ['model', ...quantileCells(modelMs)],
    ]),
  ]
}

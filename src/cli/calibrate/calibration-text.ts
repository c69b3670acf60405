/**
 * The results of `oi calibrate`, for people.
 *
 * @module
 */

import type {
  Calibrated,
  CalibrateOptions,
  FittedType,
} from '../../evaluate/calibrate/calibrate.js'
import type { Figures } from '../../evaluate/calibrate/figures.js'
import {
  fewestAnswers,
  type Goal,
  type QuestionThreshold,
} from '../../evaluate/calibrate/thresholds.js'
import { printList } from '../output/table.js'
import { print } from '../../terminal/print.js'

interface TemperatureRow {
  readonly questions: string
  readonly options: string
  readonly answers: number
  readonly temperature: string
  readonly bias: string
}

const temperatureColumns = {
  questions: ({ questions }: TemperatureRow) => questions,
  options: ({ options }: TemperatureRow) => options,
  answers: ({ answers }: TemperatureRow) => String(answers),
  'temperature (95 %)': ({ temperature }: TemperatureRow) => temperature,
  'bias (95 %)': ({ bias }: TemperatureRow) => bias,
}

interface FiguresRow {
  readonly questions: string
  readonly before: Figures
  readonly after: Figures
}

const change =
  (figure: keyof Figures, digits: number) =>
  ({ before, after }: FiguresRow) =>
    `${before[figure].toFixed(digits)} → ${after[figure].toFixed(digits)}`

const figureColumns = {
  'held out': ({ questions }: FiguresRow) => questions,
  answers: ({ after }: FiguresRow) => String(after.observations),
  accuracy: change('accuracy', 3),
  'log loss': change('logLoss', 4),
  Brier: change('brier', 4),
  ECE: change('ece', 4),
}

const thresholdColumns = {
  question: ({ question }: QuestionThreshold) => question,
  'held out': ({ observations }: QuestionThreshold) => String(observations),
  'decide from': ({ found }: QuestionThreshold) => thresholdText(found?.threshold),
  decided: ({ found }: QuestionThreshold) => (found ? String(found.decided) : '0'),
  wrong: ({ found }: QuestionThreshold) => (found ? String(found.wrong) : '-'),
  'error at most': ({ found }: QuestionThreshold) => (found ? percent(found.bound) : '-'),
  undecided: ({ found }: QuestionThreshold) => percent(found ? found.undecided : 1),
}

/** Temperatures, and the figures of held-out rows before and after. */
export function printCalibration(
  { observations, types, heldOut }: Calibrated,
  { share, seed }: CalibrateOptions,
): void {
  const { before, after } = heldOut
  print(
    `${observations} answers fitted, ${after.observations} held out ` +
      `(${percent(share)} of the rows, seed ${seed})\n`,
  )
  const rows = Object.entries(types).flatMap(([type, fitted]) => temperatureRows(type, fitted))
  printList(rows, temperatureColumns)
  const byType = Object.entries(heldOut.types).map(([questions, compared]) => ({
    questions,
    ...compared,
  }))
  const all = byType.length > 1 ? [{ questions: 'all', before, after }] : []
  printList([...byType, ...all], figureColumns)
}

function temperatureRows(type: string, fitted: FittedType): TemperatureRow[] {
  const { bias, biasInterval, buckets = {} } = fitted
  const spread = ([low, high]: readonly [number, number]) =>
    `${low.toFixed(3)} to ${high.toFixed(3)}`
  const row = (options: string, { observations, temperature, interval }: typeof fitted) => ({
    questions: type,
    options,
    answers: observations,
    temperature: `${temperature.toFixed(3)} (${spread(interval)})`,
    bias: '',
  })
  const whole = row(type === 'noul' ? '2' : 'any', fitted)
  const shownBias =
    bias === undefined || !biasInterval ? '' : `${bias.toFixed(3)} (${spread(biasInterval)})`
  return [
    { ...whole, bias: shownBias },
    ...Object.entries(buckets).map(([bucket, own]) => row(bucket, own)),
  ]
}

/** How many rows a goal takes, before any is asked. */
export function rowsText(goal: Goal, share: number, rows: number): string {
  const needed = fewestAnswers(goal)
  const all = Math.ceil(needed / share)
  return (
    `--decide ${goal.rate} takes at least ${needed} held-out answers to a question, even if all are right: ` +
    `about ${all} rows with it, of which ${percent(share)} are held out. There are ${rows} rows.\n`
  )
}

/** The thresholds of the questions, and the questions without one. */
export function printThresholds(
  thresholds: readonly QuestionThreshold[],
  { rate, confidence }: Goal,
): void {
  print(
    `Thresholds on the top probability: at most ${percent(rate)} of decided answers are wrong, ` +
      `with ${percent(confidence)} confidence for each question\n`,
  )
  printList(thresholds, thresholdColumns)
  for (const { question, reason } of thresholds) {
    if (reason !== undefined) print(`No threshold holds for ${question}: ${reason}\n`)
  }
}

/** Prints why the calibration should not be used. */
export function printDoubts(doubts: readonly string[]): void {
  for (const doubt of doubts) process.stdout.write(`Doubt: ${doubt}\n`)
}

/** Up to two digits behind the point. */
function percent(share: number): string {
  return `${Number((100 * share).toFixed(2))} %`
}

function thresholdText(threshold: number | undefined): string {
  if (threshold === undefined) return 'none'
  return threshold === 0 ? 'all' : threshold.toFixed(4)
}

/**
 * A calibration as one self-contained page: reliability of the held-out answers before and after.
 *
 * @module
 */

import { html } from '../html/markup.js'
import { reliabilityNote, reliabilityPlot } from '../html/reliability-plot.js'
import { warningBox, wholePage } from '../html/shell.js'
import { table } from '../html/tables.js'
import { showCount, showInterval, showPercent, showShare } from '../numbers.js'
import type { Calibrated, CalibrateOptions, FittedType } from './calibrate.js'
import { type Judged, tallyOf } from './figures.js'

interface CalibrationFacts {
  readonly calibrated: Calibrated
  readonly options: CalibrateOptions
  readonly doubts: readonly string[]
  /** The name of the labelled rows. */
  readonly data: string
}

/** The text of the page. Names are data, and are escaped. */
export function calibrationPage({ calibrated, options, doubts, data }: CalibrationFacts): string {
  const { observations, types, heldOut, answered } = calibrated
  const names = Object.keys(heldOut.types)
  const groups = names.length === 1 ? names : ['all answers', ...names]
  const of = (judged: readonly Judged[], group: string) =>
    tallyOf(names.includes(group) ? judged.filter(({ type }) => type === group) : judged)
  const compared = groups.map((group) => {
    return { group, before: of(answered.before, group), after: of(answered.heldOut, group) }
  })
  return wholePage(
    `Calibration on ${data}`,
    html`<h1>Calibration on ${data}</h1>
      <p>
        ${showCount(observations)} answers fitted, ${showCount(heldOut.after.observations)} held out
        (${showPercent(options.share)} of the rows, seed ${options.seed})
      </p>
      ${warningBox(doubts.map((doubt) => `Doubt: ${doubt}`))}
      <h2>Held-out answers</h2>
      ${table(
        ['', 'answers', 'accuracy', 'log loss', 'before', 'Brier', 'before', 'ECE', 'before'],
        compared.map(({ group, before, after }) => [
          group,
          showCount(after.answers),
          showShare(after.accuracy),
          ...[after.logLoss, before.logLoss].map(showShare),
          ...[after.brier, before.brier].map(showShare),
          ...[after.ece, before.ece].map(showShare),
        ]),
      )}
      <h2>Reliability</h2>
      ${reliabilityNote}
      ${compared.map(
        ({ group, before, after }) =>
          html`<div class="plots">
            ${reliabilityPlot(`${group}, before`, before)}
            ${reliabilityPlot(`${group}, after`, after)}
          </div>`,
      )}
      <h2>Temperatures</h2>
      ${table(
        ['', 'answers', 'temperature', '95 %', 'bias', '95 %'],
        Object.entries(types).flatMap(([type, fitted]) => temperatureRows(type, fitted)),
      )}
      <p class="soft">
        The probabilities are softmax((logits + bias) / temperature); a bias is added to the logit
        of yes. Over 1, a temperature makes answers less sure.
      </p> `,
  )
}

function temperatureRows(type: string, fitted: FittedType): string[][] {
  const { bias, biasInterval, buckets = {} } = fitted
  const row = (name: string, { observations, temperature, interval }: typeof fitted) => [
    name,
    showCount(observations),
    showShare(temperature),
    showInterval(interval),
  ]
  const ofBias =
    bias === undefined || !biasInterval ? ['', ''] : [showShare(bias), showInterval(biasInterval)]
  return [
    [...row(type, fitted), ...ofBias],
    ...Object.entries(buckets).map(([bucket, own]) => [
      ...row(`${type} of ${bucket} options`, own),
      ...['', ''],
    ]),
  ]
}

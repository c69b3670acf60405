/**
 * A report as one self-contained page: no network, no scripts, no fonts.
 *
 * @module
 */

import {
  showAmount,
  showCost,
  showCount,
  showDuration,
  showInterval,
  showPercent,
  showShare,
} from '../numbers.js'
import type { Comparison, Report } from '../report.js'
import { choiceDetails, coveragePlot, noulDetails, wrongTable } from './details.js'
import { latencyPlot } from './latency-plot.js'
import { html, type Markup } from './markup.js'
import { reliabilityNote, reliabilityPlot } from './reliability-plot.js'
import { warningBox, wholePage } from './shell.js'
import {
  binaryTable,
  comparisonTables,
  figuresTable,
  mistakesTable,
  quantilesTable,
} from './tables.js'

const shownQuestions = 200

/** The text of the page. Names are data, and are escaped. */
export function reportPage(report: Report): string {
  const { overall, types, questions, latencyMs, modelMs, mistakes, against } = report
  const groups = Object.entries(types)
  const panels = groups.length === 1 ? groups : [['all answers', overall] as const, ...groups]
  const several = questions.length > 1
  const title = `Evaluation of ${report.models.map(({ name }) => name).join(', ')}`
  return wholePage(
    title,
    html`${head(report)} ${tiles(report)}
      <h2>Figures</h2>
      ${figuresTable(panels)}
      <h2>Reliability</h2>
      ${reliabilityNote}
      <div class="plots">${panels.map(([title, figures]) => reliabilityPlot(title, figures))}</div>
      ${
        overall.answers > 0
          ? html`<h2>If only the surest answers are taken</h2>
              <div class="plots">
                ${panels.map(([title, figures]) => coveragePlot(title, figures))}
              </div>`
          : undefined
      }
      ${
        overall.noul &&
        html`<h2>Nouls</h2>
          ${binaryTable('yes from a probability of .5 on', overall.noul)}
          <p class="soft">
            The best thresholds are the best on these rows: on others they will do a little worse.
            oi calibrate --decide finds one that holds.
          </p>
          ${noulDetails(report)}`
      }
      ${
        overall.other &&
        html`<h2>Catch-all options</h2>
          ${binaryTable('yes where one is the likeliest', overall.other)}`
      }
      ${
        overall.score &&
        html`<h2>Scores</h2>
          <p>
            The expected level is off by ${showAmount(overall.score.meanError)} levels in the mean,
            by half a level at most in ${showPercent(overall.score.withinHalf)}; ranked probability
            score ${showShare(overall.score.ranked)}.
          </p>`
      }
      ${
        several
          ? html`<h2>By question</h2>
              ${figuresTable(questions.slice(0, shownQuestions).map((one) => [one.name, one]))}
              ${more(report)}`
          : undefined
      }
      ${
        report.choices.length > 0
          ? html`<h2>Options</h2>
              <p class="soft">
                Of the options that are right (from top to bottom), the shares that were answered
                (from left to right); on the diagonal, rightly.
              </p>
              ${choiceDetails(report)}`
          : undefined
      }
      ${
        mistakes.length > 0
          ? html`<h2>Most frequent mistakes</h2>
              ${mistakesTable(report)}`
          : undefined
      }
      ${
        report.wrong.length > 0
          ? html`<h2>Surest wrong answers</h2>
              ${wrongTable(report)}`
          : undefined
      }
      ${against && comparison(against)}
      <h2>Latency</h2>
      ${latencyPlot(latencyMs)}
      ${quantilesTable([
        ['from asking to the answer', latencyMs],
        ["the model's part", modelMs],
      ])}
      ${cost(report)}
      <h2>What the figures mean</h2>
      ${glossary} `,
  )
}

function head(report: Report): Markup {
  const { models, file, url, rows, overall, digest, warning } = report
  const warnings = [
    ...(warning === undefined ? [] : [warning]),
    ...(report.whole ? [] : ['Ended early: the figures are of the rows so far.']),
    ...(rows.refused === 0 ? [] : [`Refused rows: ${showCount(rows.refused)}. The first of them:`]),
    ...rows.refusals.map(({ line, message }) => `line ${line}: ${message}`),
  ]
  return html`<h1>Evaluation of ${models.map(({ name }) => name).join(', ')}</h1>
    <p>
      ${file}: ${showCount(rows.answered)} of ${showCount(rows.inFile)} rows,
      ${showCount(overall.answers)} answers${url === undefined ? '' : `, asked at ${url}`}
    </p>
    <p class="soft">
      ${report.date.slice(0, 16).replace('T', ' ')} UTC, oi ${report.version}, ${report.concurrency}
      rows at the same time${report.reversed ? ', asked in reverse as well' : ''}
    </p>
    <p class="soft">
      data
      ${short(digest)}${models.map((model) => `, ${model.name} ${[model.readout, short(model.digest)].filter(Boolean).join(' ')}`)}
    </p>
    ${warningBox(warnings)}`
}

/** The beginning of a digest, enough to tell files apart. */
function short(digest: string | undefined): string {
  return digest === undefined ? '' : digest.replace(/^(sha256:.{12}).*$/, '$1…')
}

function tiles({ overall, decisionsPerSecond, latencyMs }: Report): Markup {
  const shown = [
    ['accuracy', showShare(overall.accuracy), showInterval(overall.accuracyInterval)],
    ['ECE', showShare(overall.ece), 'ten bins'],
    ['log loss', showShare(overall.logLoss), 'nats'],
    ['Brier', showShare(overall.brier), '0 to 2'],
    ['label mass', showShare(overall.labelMass.mean), `5 %: ${showShare(overall.labelMass.p5)}`],
    ...(overall.flips
      ? [['flips', showShare(overall.flips.rate), `of ${showCount(overall.flips.answers)}`]]
      : []),
    ['decisions/s', showAmount(decisionsPerSecond), `median ${showAmount(latencyMs.p50)} ms`],
  ]
  return html`<div class="tiles">
    ${shown.map(
      ([name, value, note]) =>
        html`<div class="tile"><span>${name}</span><b>${value}</b><span>${note}</span></div>`,
    )}
  </div>`
}

function more({ questions, answersOfFurtherQuestions }: Report): Markup | undefined {
  const left = questions
    .slice(shownQuestions)
    .reduce((sum, { answers }) => sum + answers, answersOfFurtherQuestions)
  if (left === 0) return undefined
  return html`<p class="soft">${showCount(left)} answers are to further questions.</p>`
}

function comparison(against: Comparison): Markup {
  const { file, models, answers, onlyHere, onlyThere, p } = against
  return html`<h2>Against ${models.map(({ name }) => name).join(', ')}</h2>
    <p>
      ${file === undefined ? '' : `${file}: `}${showCount(answers)} answers of both. Right here
      alone: ${showCount(onlyHere)}; there alone: ${showCount(onlyThere)}. Chance would divide them
      so unevenly with a probability of ${showShare(p)} (McNemar’s exact test).
    </p>
    ${comparisonTables(against)}`
}

function cost({ tokens, credits, rows, seconds, ...report }: Report): Markup {
  const { input, cached, image, output } = tokens
  return html`<h2>Cost</h2>
    <p>
      ${showCount(input)} tokens in (${showPercent(cached / input)} of them
      cached${image === 0 ? '' : `, ${showCount(image)} of images`}), ${showCount(output)} out;
      ${showAmount(input / rows.answered)} in for a
      decision.${credits === undefined ? '' : ` ${showCost(credits, rows.answered)}.`}
    </p>
    <p>
      ${showAmount(report.decisionsPerSecond)} decisions/s and
      ${showAmount(report.answersPerSecond)} answers/s in ${showDuration(seconds)}.
    </p>`
}

const meanings = [
  ['accuracy', 'share of the answers whose likeliest option is the right one'],
  ['guessing', 'the accuracy of a guess: the mean of 1/n over the numbers n of options'],
  ['Brier', 'mean of Σ (p − y)² over the options; y is 1 for the right one, else 0. 0 to 2'],
  ['log loss', 'mean of −ln p of the right option, in nats; p counts as 2⁻⁵² at least'],
  [
    'ECE',
    'expected calibration error: the mean distance of confidence and accuracy over ten bins of the confidence, which is the probability of the likeliest option',
  ],
  [
    'label mass',
    'probability that the model gave to all allowed labels together: near 0, it did not understand what it was asked for. “5 %”: what the lowest twentieth does not exceed',
  ],
  [
    'flips',
    'share of the choices and scores whose likeliest option is another one if the options are listed in reverse; shift: the mean of the largest difference of an option’s probability',
  ],
  ['ranked probability score', 'of scores: the squared distance of the cumulated probabilities'],
  ['decision', 'one row: all its questions, answered'],
] as const

const glossary = html`<dl>
  ${meanings.map(
    ([term, meaning]) =>
      html`<dt>${term}</dt>
        <dd>${meaning}</dd>`,
  )}
</dl>`

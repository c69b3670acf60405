/**
 * Formats figures for people, for the table and the page.
 *
 * @module
 */

import type { BinaryFigures } from './figures/binary-tally.js'
import { ruleNames, type Threshold } from './figures/curves.js'
import type { Quantiles } from './figures/histogram.js'
import type { Figures } from './figures/tally.js'
import type { Difference } from './report.js'

const none = '–'

/** A share or a score between 0 and 1: `.747`; `1.204` from one on. */
export function showShare(value: number): string {
  return Number.isNaN(value) ? none : value.toFixed(3).replace(/^0\./, '.')
}

/** A threshold, whose every digit counts: `.74682`. */
export function showExactly(value: number): string {
  return String(value).replace(/^0\./, '.')
}

/** A difference of such shares: `+.031`, `−.120`. */
function showDifference(value: number): string {
  if (Number.isNaN(value)) return none
  return `${value < 0 ? '−' : '+'}${showShare(Math.abs(value))}`
}

/** The cells of a comparison: here, there, the difference, its interval. */
export function differenceCells({ here, there, difference, interval }: Difference): string[] {
  const [low, high] = interval.map(showDifference)
  return [showShare(here), showShare(there), showDifference(difference), `${low} to ${high}`]
}

export const figureHead = ['answers', 'accuracy', '95 %', 'guessing', 'Brier', 'log loss', 'ECE']

/** The cells of a group of answers: those of {@link figureHead}, the label mass, and flips. */
export function figureCells(one: Figures, withFlips: boolean): string[] {
  return [
    showCount(one.answers),
    showShare(one.accuracy),
    showInterval(one.accuracyInterval),
    ...[one.guessing, one.brier, one.logLoss, one.ece].map(showShare),
    ...[one.labelMass.mean, one.labelMass.p5].map(showShare),
    ...(withFlips
      ? [one.flips?.rate, one.flips?.shift].map((share = NaN) => showShare(share))
      : []),
  ]
}

export function binaryCells({ yes, ...one }: BinaryFigures): string[] {
  const shares = [one.precision, one.recall, one.f1, one.brier, one.auc, one.averagePrecision]
  return [showPercent(yes), ...shares.map(showShare)]
}

export function thresholdCells({ rule, threshold, ...one }: Threshold): string[] {
  const shares = [one.precision, one.recall, one.f1, one.accuracy]
  return [ruleNames[rule], showExactly(threshold), ...shares.map(showShare)]
}

export const quantileHead = ['ms', 'mean', 'median', '90 %', '95 %', '99 %', 'longest']

export function quantileCells({ mean, p50, p90, p95, p99, max }: Quantiles): string[] {
  return [mean, p50, p90, p95, p99, max].map(showAmount)
}

export function showInterval([low, high]: readonly [number, number]): string {
  return Number.isNaN(low) ? none : `${showShare(low)}–${showShare(high)}`
}

/** `3,080` */
export function showCount(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 0 })
}

/** Three digits, or all digits before the point: `0.00123`, `12.3`, `4,711`. */
export function showAmount(value: number): string {
  if (!Number.isFinite(value)) return none
  if (Math.abs(value) >= 100) return showCount(value)
  return value.toLocaleString('en', { maximumSignificantDigits: 3 })
}

/** `1.25 credits, 0.125 for 1,000 decisions` */
export function showCost(credits: number, decisions: number): string {
  const thousand = showAmount((1000 * credits) / decisions)
  return `${showAmount(credits)} credits, ${thousand} for 1,000 decisions`
}

/** `12.3 %` */
export function showPercent(value: number): string {
  return Number.isNaN(value) ? none : `${(100 * value).toFixed(1)} %`
}

/** `850 ms`, `12.3 s`, `4 min 5 s`, `2 h 3 min`. */
export function showDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return none
  if (seconds < 1) return `${Math.round(1000 * seconds)} ms`
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

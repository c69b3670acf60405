/**
 * Temperatures of each type and bucket, and the bias of nouls, from labelled logits.
 *
 * The temperature makes the right answers likeliest (Guo et al. 2017); the bias is as in Platt
 * 1999. Few rows must not lead far from the expectation, so both have a Gaussian prior. Minimised
 * over the n observations of one type or bucket:
 *
 *     sum -ln p(right) + (ln T - m)^2 / (2 · 0.5^2) + (b / T)^2 / (2 · 1^2)
 *
 * A type has m = 0, that is T = 1; a bucket has m = ln T of its type: a bucket with few or no rows
 * keeps its type's temperature. 0.5 means that two thirds of all temperatures are within a factor
 * of 1.65 of the expected one. The prior weighs as much as a handful of rows: each row adds the
 * variance of l / T under p, usually 0.2 to 1, to the prior's 4.
 *
 * @see C. Guo, G. Pleiss, Y. Sun, K. Weinberger, "On calibration of modern neural networks", ICML 2017.
 * @see J. Platt, "Probabilistic outputs for support vector machines", 1999.
 * @see A. Gelman, J. Hill, "Data analysis using regression and multilevel/hierarchical models",
 *   2007, chapter 12 (partial pooling).
 * @module
 */

import type { Bucket, QuestionType } from '../../scoring/calibration.js'
import { lossesOf, lossOf, type Scale } from './loss.js'
import { type Curve, minimize, type Point } from './minimize.js'
import type { Sample, Samples } from './sample.js'

/** Standard deviation of ln T around its expectation. */
const temperatureSpread = 0.5
/** Standard deviation of b / T around 0, nats. */
const shiftSpread = 1

/** Starts of the search: T from 0.05 to 20. Because of the prior there may be two minima. */
const starts = [-3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3]

interface TypeFit {
  readonly scale: Scale
  /** Empty if all observations are in one bucket, whose scale is then the type's. */
  readonly buckets: ReadonlyMap<Bucket, Scale>
}

export type Fit = ReadonlyMap<QuestionType, TypeFit>

interface FitOptions {
  /** Whether nouls have a bias. */
  readonly biased: boolean
  /** The weight of each row, by its number. Default 1. */
  readonly weights?: ArrayLike<number>
  /** A fit that is known to be near; it saves the search. */
  readonly near?: Fit
}

/** Fits each type and each of its buckets. */
export function fitAll(samples: Samples, { biased, weights, near }: FitOptions): Fit {
  const fit = new Map<QuestionType, TypeFit>()
  for (const [type, byBucket] of samples) {
    const known = near?.get(type)
    const shared = { biased: biased && type === 'noul', weights }
    const scale = fitScale([...byBucket.values()], { ...shared, mean: 0, near: known?.scale })
    const mean = scale.logTemperature
    const fitted = new Map<Bucket, Scale>()
    if (byBucket.size > 1) {
      for (const [bucket, sample] of byBucket) {
        const own = { ...shared, mean, near: known?.buckets.get(bucket) }
        fitted.set(bucket, fitScale([sample], own))
      }
    }
    fit.set(type, { scale, buckets: fitted })
  }
  return fit
}

interface ScaleOptions {
  /** Expected ln T. */
  readonly mean: number
  readonly biased: boolean
  readonly weights?: ArrayLike<number> | undefined
  readonly near?: Scale | undefined
}

/** The common scale of samples. */
function fitScale(
  samples: readonly Sample[],
  { mean, biased, weights, near }: ScaleOptions,
): Scale {
  const cost = (point: Point) =>
    withPrior(lossOf(samples, scaleAt(point), weights), point, mean, biased)
  const start = near ? ([near.logTemperature, near.shift] as const) : lowest(cost)
  return scaleAt(minimize(cost, start))
}

function scaleAt([logTemperature, shift]: Point): Scale {
  return { logTemperature, shift }
}

function lowest(cost: (point: Point) => Curve): Point {
  const points = starts.map((start): Point => [start, 0])
  const values = points.map((point) => cost(point).value)
  return points[values.indexOf(Math.min(...values))]!
}

function withPrior(loss: Curve, point: Point, mean: number, biased: boolean): Curve {
  const distance = (point[0] - mean) / temperatureSpread
  const [slope, shiftSlope] = loss.gradient
  const [curvature, mixed, shiftCurvature] = loss.hessian
  const value = loss.value + distance ** 2 / 2
  const temperatureSlope = slope + distance / temperatureSpread
  const temperatureCurvature = curvature + temperatureSpread ** -2
  // The bias stays fixed: no gradient, and no mixed derivative.
  if (!biased) {
    return { value, gradient: [temperatureSlope, 0], hessian: [temperatureCurvature, 0, 1] }
  }
  const shift = point[1] / shiftSpread
  return {
    value: value + shift ** 2 / 2,
    gradient: [temperatureSlope, shiftSlope + shift / shiftSpread],
    hessian: [temperatureCurvature, mixed, shiftCurvature + shiftSpread ** -2],
  }
}

const folds = 5

/**
 * Whether a bias improves nouls on rows that it was not fitted to: in five-fold cross-validation,
 * the mean gain in log loss exceeds its standard error. So the rows that are held out for the
 * figures do not decide it.
 */
export function carriesBias(sample: Sample, rowCount: number): boolean {
  let [count, sum, squares] = [0, 0, 0]
  for (let fold = 0; fold < folds; fold++) {
    const weights = Uint8Array.from({ length: rowCount }, (_, row) =>
      row % folds === fold ? 0 : 1,
    )
    const losses = [false, true].map((biased) =>
      lossesOf(sample, fitScale([sample], { mean: 0, biased, weights })),
    )
    sample.rows.forEach((row, i) => {
      if (weights[row] === 1) return
      const gain = losses[0]![i]! - losses[1]![i]!
      count++
      sum += gain
      squares += gain * gain
    })
  }
  const mean = sum / count
  const variance = (squares / count - mean * mean) / (count - 1)
  return count > folds && mean > Math.sqrt(variance)
}

/**
 * Fits temperatures to labelled observations, and judges them on held-out rows.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import {
  type Bucket,
  type CalibrationSource,
  type QuestionType,
  withBias,
} from '../../scoring/calibration.js'
import { softmax } from '../../scoring/softmax.js'
import type { Interval } from '../figures/percentile-interval.js'
import { biasOf, bootstrap, temperatureOf } from './bootstrap.js'
import { type Figures, figuresOf } from './figures.js'
import { carriesBias, type Fit, fitAll } from './fit.js'
import { countOf, rowNumbers, type RowObservation, type Samples, samplesOf } from './sample.js'
import { sourceOf } from '../../scoring/calibration-source.js'
import { splitRows } from './split.js'
import type { Answered } from './thresholds.js'

interface FittedTemperature {
  readonly temperature: number
  /** 95 % interval of the temperature. */
  readonly interval: Interval
  /** The number of answers that it was fitted to. */
  readonly observations: number
}

export interface FittedType extends FittedTemperature {
  /** Nats; only if it makes held-back answers likelier. */
  readonly bias?: number
  /** 95 % interval of the bias. */
  readonly biasInterval?: Interval
  /** Present if there are several buckets. */
  readonly buckets?: Readonly<Partial<Record<Bucket, FittedTemperature>>>
}

type FittedTypes = Readonly<Partial<Record<QuestionType, FittedType>>>

export interface Comparison {
  /** Figures of the probabilities as answered. */
  readonly before: Figures
  readonly after: Figures
}

export interface Calibrated {
  /** The number of fitted answers. */
  readonly observations: number
  readonly types: FittedTypes
  readonly heldOut: Comparison & {
    readonly types: Readonly<Partial<Record<QuestionType, Comparison>>>
  }
  /** Both parts with calibrated probabilities, to choose thresholds by; the second as answered. */
  readonly answered: {
    readonly fitted: readonly Answered[]
    readonly heldOut: readonly Answered[]
    readonly before: readonly Answered[]
  }
}

export interface CalibrateOptions {
  /** Share of rows that are held out, above 0 and below 1. */
  readonly share: number
  /** Seed of the split and the bootstrap, an integer. */
  readonly seed: number
  /** Number of fits for the intervals. Default 500. */
  readonly repetitions?: number
}

/**
 * Fits on one part of the rows, and judges on the other.
 *
 * The fit of the first part is the result and is not refitted on all rows, so the figures belong to
 * exactly this calibration. The same observations in the same order give the same result.
 *
 * @throws {@link OiError} `ERR_CONFIG` if either part has no rows.
 */
export function calibrate(
  observations: readonly RowObservation[],
  { share, seed, repetitions }: CalibrateOptions,
): Calibrated {
  const { fitted, heldOut } = splitRows(observations, share, seed)
  if (fitted.length === 0 || heldOut.length === 0) {
    throw new OiError(
      'ERR_CONFIG',
      `Expected answers to fit and others to hold out, got ${fitted.length} and ${heldOut.length}: ` +
        'give more rows, or another --held-out',
    )
  }
  const types = fitTypes(fitted, { seed, repetitions })
  const source = sourceOf(types)
  const after = heldOut.map((observation) => answered(observation, source))
  const ofTypes = (Object.keys(types) as QuestionType[]).map((type) => {
    const own = <T extends { type: QuestionType }>(all: readonly T[]) =>
      all.filter((one) => one.type === type)
    return [type, { before: figuresOf(own(heldOut)), after: figuresOf(own(after)) }] as const
  })
  return {
    observations: fitted.length,
    types,
    heldOut: {
      before: figuresOf(heldOut),
      after: figuresOf(after),
      types: Object.fromEntries(ofTypes.filter(([, { after }]) => after.observations > 0)),
    },
    answered: {
      fitted: fitted.map((observation) => answered(observation, source)),
      heldOut: after,
      before: heldOut,
    },
  }
}

function answered(observation: RowObservation, source: CalibrationSource): Answered {
  const { question, type, logits, right } = observation
  const found = source(type, logits.length)
  // A type without a fit stays as it was.
  const probabilities = found
    ? [...softmax(withBias(logits, found.bias), found.temperature)]
    : observation.probabilities
  return { question, type, probabilities, right }
}

function fitTypes(
  observations: readonly RowObservation[],
  drawn: { readonly seed: number; readonly repetitions: number | undefined },
): FittedTypes {
  const numbers = rowNumbers(observations)
  const samples = samplesOf(observations, numbers)
  const noul = samples.get('noul')?.get('2')
  const biased = noul !== undefined && carriesBias(noul, numbers.size)
  const fit = fitAll(samples, { biased })
  const intervalsOf = bootstrap(samples, fit, { rowCount: numbers.size, biased, ...drawn })
  const types = [...samples.keys()].map((type) => {
    const fitted = fittedType(type, fit, samples, intervalsOf)
    if (type !== 'noul' || !biased) return [type, fitted] as const
    const bias = biasOf(fit.get(type)!.scale)
    return [type, { ...fitted, bias, biasInterval: intervalsOf(type).bias }] as const
  })
  return Object.fromEntries(types)
}

function fittedType(
  type: QuestionType,
  fit: Fit,
  samples: Samples,
  intervalsOf: ReturnType<typeof bootstrap>,
): FittedType {
  const { scale, buckets } = fit.get(type)!
  const byBucket = samples.get(type)!
  const whole: FittedTemperature = {
    temperature: temperatureOf(scale),
    interval: intervalsOf(type).temperature,
    observations: [...byBucket.values()].reduce((sum, sample) => sum + countOf(sample), 0),
  }
  if (buckets.size === 0) return whole
  const fitted = [...buckets].map(([bucket, own]): [Bucket, FittedTemperature] => [
    bucket,
    {
      temperature: temperatureOf(own),
      interval: intervalsOf(type, bucket).temperature,
      observations: countOf(byBucket.get(bucket)!),
    },
  ])
  return { ...whole, buckets: Object.fromEntries(fitted) }
}

/**
 * How much a fit varies with other rows of the same kind.
 *
 * @module
 */

import type { Bucket, QuestionType } from '../../scoring/calibration.js'
import { type Fit, fitAll } from './fit.js'
import type { Scale } from './loss.js'
import { type Interval, percentileInterval } from '../figures/percentile-interval.js'
import { randomFrom } from '../figures/random.js'
import type { Samples } from './sample.js'

interface ScaleIntervals {
  readonly temperature: Interval
  /** Nats. */
  readonly bias: Interval
}

interface BootstrapOptions {
  readonly rowCount: number
  /** Whether nouls have a bias. */
  readonly biased: boolean
  readonly seed: number
  readonly repetitions?: number | undefined
}

/** How many fits the intervals are based on. */
const usualRepetitions = 500

/**
 * 95 % intervals by the percentile bootstrap: rows, with all their observations, are drawn with
 * replacement and fitted again. The prior is included: the interval of a bucket with few rows is
 * close to its type's.
 *
 * @param options - Row numbers are from 0, below `rowCount`. `repetitions` is 500 by default.
 * @returns A function: the intervals of a scale of `fit`.
 */
export function bootstrap(
  samples: Samples,
  fit: Fit,
  { rowCount, biased, seed, repetitions = usualRepetitions }: BootstrapOptions,
): (type: QuestionType, bucket?: Bucket) => ScaleIntervals {
  const random = randomFrom(seed)
  const fits: Fit[] = []
  for (let i = 0; i < repetitions; i++) {
    const weights = new Uint16Array(rowCount)
    for (let row = 0; row < rowCount; row++) weights[Math.floor(random() * rowCount)]!++
    fits.push(fitAll(samples, { biased, weights, near: fit }))
  }
  return (type, bucket) => {
    const scales = fits.map((one) => {
      const ofType = one.get(type)!
      return bucket === undefined ? ofType.scale : ofType.buckets.get(bucket)!
    })
    return {
      temperature: percentileInterval(scales.map(temperatureOf)),
      bias: percentileInterval(scales.map(biasOf)),
    }
  }
}

export function temperatureOf({ logTemperature }: Scale): number {
  return Math.exp(logTemperature)
}

/** Nats, before the temperature. */
export function biasOf(scale: Scale): number {
  return scale.shift * temperatureOf(scale)
}

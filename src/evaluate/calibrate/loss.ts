/**
 * Log loss of a sample as a function of temperature and bias, with its derivatives.
 *
 * In t = ln T and g = b / T, an observation with gaps x[j] and sign s costs
 *
 *     ln(1 + sum_j exp(z[j])),   z[j] = exp(-t) x[j] + g s
 *
 * which is -ln of its right option's probability. It is convex in exp(-t) and g.
 *
 * @module
 */

import type { Curve } from './minimize.js'
import type { Sample } from './sample.js'

/** Temperature and bias, in the parameters of the fit. */
export interface Scale {
  /** ln T. */
  readonly logTemperature: number
  /** b / T: the bias in log-odds, nats. */
  readonly shift: number
}

/**
 * The loss summed over observations; nats.
 *
 * @param weights - The weight of each row, by its number. Default 1.
 */
export function lossOf(
  samples: Iterable<Sample>,
  { logTemperature, shift }: Scale,
  weights?: ArrayLike<number>,
): Curve {
  const inverse = Math.exp(-logTemperature)
  let value = 0
  let [slope, curvature, shiftSlope, shiftCurvature, mixed] = [0, 0, 0, 0, 0]
  for (const { gaps, starts, signs, rows } of samples) {
    for (let i = 0; i < rows.length; i++) {
      const weight = weights === undefined ? 1 : weights[rows[i]!]!
      if (weight === 0) continue
      const sign = signs[i]!
      const end = starts[i + 1]!
      // The right option's exponent is 0.
      let max = 0
      for (let j = starts[i]!; j < end; j++) max = Math.max(max, inverse * gaps[j]! + shift * sign)
      let [sum, first, second] = [Math.exp(-max), 0, 0]
      for (let j = starts[i]!; j < end; j++) {
        const gap = gaps[j]!
        const term = Math.exp(inverse * gap + shift * sign - max)
        sum += term
        first += term * gap
        second += term * gap * gap
      }
      const wrong = 1 - Math.exp(-max) / sum
      const mean = first / sum
      value += weight * (max + Math.log(sum))
      slope += weight * mean
      curvature += weight * (second / sum - mean * mean)
      shiftSlope += weight * sign * wrong
      shiftCurvature += weight * sign * sign * wrong * (1 - wrong)
      mixed += weight * sign * mean * (1 - wrong)
    }
  }
  // From d/d(1/T) to d/d(ln T).
  return {
    value,
    gradient: [-inverse * slope, shiftSlope],
    hessian: [inverse * inverse * curvature + inverse * slope, -inverse * mixed, shiftCurvature],
  }
}

/** Shape [m]: the loss of each observation; nats. */
export function lossesOf(
  { gaps, starts, signs, rows }: Sample,
  { logTemperature, shift }: Scale,
): Float64Array {
  const inverse = Math.exp(-logTemperature)
  return Float64Array.from(rows, (_, i) => {
    const exponents = gaps
      .subarray(starts[i], starts[i + 1])
      .map((gap) => inverse * gap + shift * signs[i]!)
    const max = Math.max(0, ...exponents)
    return max + Math.log(exponents.reduce((sum, z) => sum + Math.exp(z - max), Math.exp(-max)))
  })
}

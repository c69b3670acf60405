/**
 * Logits to probabilities over the options.
 *
 * Pure arithmetic: no I/O, no engine, no HTTP. Tested without a model.
 *
 * Conventions of src/scoring:
 *   - n is the number of options of one question. Arrays have shape [n] and keep the order in
 *     which the caller listed the options.
 *   - A logit is in nats and known up to a constant that all options of a question share.
 *   - A probability is in [0, 1]. Everything is computed in double precision.
 *
 * @module
 */

import { OiError } from '../errors.js'

/**
 * Normalises logits over the options alone.
 *
 *     p[i] = exp((l[i] - m) / T) / sum_j exp((l[j] - m) / T),   m = max_j l[j]
 *
 * Subtracting m keeps every exponent <= 0: nothing overflows, and the largest term is exactly 1,
 * so the sum is never zero.
 *
 * @param logits - Shape [n], n >= 1, nats. `-Infinity` marks an option the model cannot produce;
 *   at least one entry is finite.
 * @param temperature - Calibration temperature, dimensionless, > 0.
 * @returns Shape [n], same order, summing to 1 up to rounding.
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` if `logits` is empty, holds NaN or +Infinity, or
 *   has no finite entry; or if `temperature` is not a positive finite number.
 * @example
 * ```ts
 * softmax([Math.log(0.3), Math.log(0.1)]) // ~ [0.75, 0.25]
 * ```
 * @see P. Blanchard, D. J. Higham, N. J. Higham, "Accurately computing the log-sum-exp and
 *   softmax functions", IMA J. Numer. Anal. 41(4), 2021.
 */
export function softmax(logits: ArrayLike<number>, temperature = 1): Float64Array {
  if (!(temperature > 0 && temperature < Infinity)) {
    throw new OiError(
      'ERR_INVALID_ARGUMENT',
      `temperature: expected a positive number, got ${temperature}`,
    )
  }
  const max = largest(logits)
  if (max === -Infinity) {
    throw new OiError('ERR_INVALID_ARGUMENT', 'logits: expected at least one finite number')
  }
  const p = new Float64Array(logits.length)
  let sum = 0
  for (let i = 0; i < p.length; i++) {
    p[i] = Math.exp((logits[i]! - max) / temperature)
    sum += p[i]!
  }
  for (let i = 0; i < p.length; i++) p[i] = p[i]! / sum
  return p
}

/**
 * The logarithm of a sum of exponentials: the logit of several forms of one option together.
 *
 * @param logits - Shape [k], nats.
 * @returns m + ln sum_j exp(l[j] - m), m being the largest; nats. `-Infinity` if all are.
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` if `logits` holds NaN or +Infinity.
 */
export function logSumExp(logits: ArrayLike<number>): number {
  const max = largest(logits)
  if (max === -Infinity) return max
  let sum = 0
  for (let i = 0; i < logits.length; i++) sum += Math.exp(logits[i]! - max)
  return max + Math.log(sum)
}

function largest(logits: ArrayLike<number>): number {
  let max = -Infinity
  for (let i = 0; i < logits.length; i++) {
    const logit = logits[i]!
    // Written so that NaN fails it too.
    if (!(logit < Infinity)) {
      throw new OiError('ERR_INVALID_ARGUMENT', `logits: expected numbers, got ${logit}`)
    }
    if (logit > max) max = logit
  }
  return max
}

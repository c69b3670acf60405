/**
 * Observations of a model with temperatures of its own: a calibration is fitted to the answers that
 * these give, as it is applied to them.
 *
 * @module
 */

import type { Observation } from '../rows/types.js'
import { type CalibrationSource, withBias } from '../../scoring/calibration.js'
import { softmax } from '../../scoring/softmax.js'

type Calibratable = Pick<Observation, 'type' | 'logits' | 'probabilities'>

/** What is left of 1 beside a probability of yes that is rounded to 1. */
const least = 2 ** -53

/**
 * An observation as the model's own temperatures leave it: its logits are those of its
 * probabilities. Unchanged if the model has none for it.
 *
 * Made from the probabilities, as several readouts make an answer of more than one softmax.
 */
export function onAnswered<T extends Calibratable>(observation: T, own: CalibrationSource): T {
  const { type, logits, probabilities } = observation
  if (own(type, logits.length) === undefined) return observation
  const shown = type === 'noul' ? probabilities.map((p) => Math.max(p, least)) : probabilities
  return { ...observation, logits: shown.map(Math.log) }
}

/** The same of a saved observation, which may have been answered otherwise: from its logits. */
export function onSaved<T extends Calibratable>(observation: T, own: CalibrationSource): T {
  const { type, logits } = observation
  const found = own(type, logits.length)
  if (found === undefined) return observation
  const probabilities = [...softmax(withBias(logits, found.bias), found.temperature)]
  return onAnswered({ ...observation, probabilities }, own)
}

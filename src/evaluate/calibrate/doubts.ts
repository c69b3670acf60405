/**
 * Reasons not to use a calibration: the fit may reflect the rows instead of the model. Each doubt
 * is a sentence that names the type of question and what would help.
 *
 * @module
 */

import type { QuestionType } from '../../scoring/calibration.js'
import type { Calibrated, FittedType } from './calibrate.js'
import type { Answered } from './thresholds.js'

/** The fewest fitted and held-out answers of a type. */
export const [fewestFitted, fewestHeldOut] = [30, 10]
/** The fewest right answers of nouls that are yes, and that are no. */
const fewestOfSide = 5
/** Plausible temperatures, which are the range of the search. */
const temperatureBounds = [0.05, 20] as const
/** Largest absolute bias of a noul; nats. */
const mostBias = 10

/** Log losses that differ by less count as equal; nats. */
const sameLoss = 1e-6

/** The doubts about a calibration; often none. */
export function doubtsOf({ types, heldOut, answered }: Calibrated): string[] {
  return (Object.entries(types) as [QuestionType, FittedType][]).flatMap(([type, fitted]) => {
    const ofType = (all: readonly Answered[]) => all.filter((one) => one.type === type)
    const [own, others] = [ofType(answered.fitted), ofType(answered.heldOut)]
    const found = [
      tooFew(own.length, others.length),
      oneSided(type, [...own, ...others]),
      ...outOfBounds(fitted),
      worse(heldOut.types[type]),
    ]
    return found.flatMap((doubt) => (doubt === undefined ? [] : [`${type}: ${doubt}`]))
  })
}

function tooFew(fitted: number, heldOut: number): string | undefined {
  if (fitted >= fewestFitted && heldOut >= fewestHeldOut) return undefined
  return (
    `too few answers: expected at least ${fewestFitted} fitted and ${fewestHeldOut} held out, ` +
    `got ${fitted} and ${heldOut}; rows that are near copies are on one side together`
  )
}

/** A fit to one-sided labels makes one answer certain, whatever the question. */
function oneSided(type: QuestionType, answered: readonly Answered[]): string | undefined {
  const counts = new Map<number, number>()
  for (const { right } of answered) counts.set(right, (counts.get(right) ?? 0) + 1)
  const remedy = 'add rows with other right answers'
  if (type === 'noul') {
    const [no, yes] = [counts.get(0) ?? 0, counts.get(1) ?? 0]
    if (Math.min(no, yes) >= fewestOfSide) return undefined
    return (
      `one-sided labels: yes is right ${yes} times and no ${no} times, expected at least ` +
      `${fewestOfSide} of each; ${remedy}`
    )
  }
  if (counts.size > 1 || answered.length < fewestFitted) return undefined
  const [right = 0] = counts.keys()
  const what = type === 'choice' ? `option ${right + 1} of the list` : `level ${right}`
  return `one-sided labels: ${what} is right in all ${answered.length} answers; ${remedy}`
}

function outOfBounds({ temperature, bias = 0, buckets = {} }: FittedType): string[] {
  const [low, high] = temperatureBounds
  const all = [
    { temperature, where: '' },
    ...Object.entries(buckets).map(([bucket, own]) => ({
      temperature: own.temperature,
      where: ` of ${bucket} options`,
    })),
  ]
  const found = all
    .filter(({ temperature }) => !(temperature >= low && temperature <= high))
    .map(
      ({ temperature, where }) =>
        `the temperature${where} is out of bounds: expected ${low} to ${high}, ` +
        `got ${temperature.toPrecision(3)}; check the labels, and whether the model understands`,
    )
  if (!(Math.abs(bias) <= mostBias)) {
    found.push(
      `the bias is out of bounds: expected -${mostBias} to ${mostBias}, got ${bias.toPrecision(3)}`,
    )
  }
  return found
}

function worse(compared: Calibrated['heldOut']['types'][QuestionType]): string | undefined {
  if (compared === undefined) return undefined
  const [before, after] = [compared.before.logLoss, compared.after.logLoss]
  if (after <= before + sameLoss) return undefined
  return (
    `the fit is worse on held-out rows: log loss ${before.toFixed(4)} before, ` +
    `${after.toFixed(4)} after; give more rows, or leave the model as it is`
  )
}

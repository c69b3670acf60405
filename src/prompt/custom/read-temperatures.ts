/**
 * `temperature` in a readout file: one number for all, or by type, or by type and number of
 * options; for a noul, one with a bias for yes.
 *
 * @module
 */

import { isJsonObject, RawNumber, type Json } from '../../api/json.js'
import type { Temperature } from '../../scoring/types.js'
import { objectAt, refusal } from './fields.js'

const types = ['noul', 'choice', 'score'] as const
const buckets = { '2': [1, 2], '3-5': [3, 5], '6-10': [6, 10], '11+': [11, Infinity] } as const
const bucketNames = Object.keys(buckets) as (keyof typeof buckets)[]
const temperatureRange = [0.01, 100] as const
const biasRange = [-10, 10] as const

/**
 * @throws {@link OiError} `ERR_READOUT` for a temperature that is not a number from 0.01 to 100,
 *   or a bias that is not one from -10 to 10.
 * @example
 * ```json
 * { "noul": { "temperature": 1.1, "bias": 0.3 },
 *   "choice": { "2": 1.2, "3-5": 1.4, "6-10": 1.4, "11+": 1.5 } }
 * ```
 */
export function readTemperatures(value: Json | undefined): readonly Temperature[] | undefined {
  if (value === undefined) return undefined
  if (!isJsonObject(value)) {
    const temperature = numberAt('temperature', value, temperatureRange)
    return types.map((type) => ({ type, from: 1, to: Infinity, temperature }))
  }
  const given = objectAt('temperature', value, types)
  return types.flatMap((type) => {
    const own = given[type]
    return own === undefined ? [] : readBuckets(type, own)
  })
}

function readBuckets(type: Temperature['type'], value: Json): readonly Temperature[] {
  const place = `temperature.${type}`
  const whole = (number: Json) => {
    return { type, from: 1, to: Infinity, temperature: numberAt(place, number, temperatureRange) }
  }
  if (!isJsonObject(value)) return [whole(value)]
  if (type === 'noul' && ('bias' in value || 'temperature' in value)) {
    const { temperature, bias } = objectAt(place, value, ['temperature', 'bias'])
    if (temperature === undefined) throw refusal(place, 'expected a temperature beside the bias')
    if (bias === undefined) return [whole(temperature)]
    return [{ ...whole(temperature), bias: numberAt(`${place}.bias`, bias, biasRange) }]
  }
  const given = objectAt(place, value, bucketNames)
  return bucketNames.flatMap((name) => {
    const own = given[name]
    if (own === undefined) return []
    const [from, to] = buckets[name]
    const temperature = numberAt(`${place}.${name}`, own, temperatureRange)
    return [{ type, from, to, temperature }]
  })
}

function numberAt(place: string, value: Json, [least, most]: readonly [number, number]): number {
  const number = value instanceof RawNumber ? value.valueOf() : value
  if (typeof number === 'number' && number >= least && number <= most) return number
  throw refusal(place, `expected a number from ${least} to ${most}`)
}

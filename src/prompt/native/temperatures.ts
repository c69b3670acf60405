/**
 * A decision model's own temperatures: `<arch>.decision.temperature.<type>`, or `….<type>.<bucket>`
 * for a number of options.
 *
 * @module
 */

import type { Question } from '../../decide/types.js'
import type { ModelInfo } from '../../engine/types.js'
import { OiError } from '../../errors.js'
import type { Temperature } from '../../scoring/types.js'
import type { Bucket } from './families.js'

const types: readonly Question['type'][] = ['choice', 'score', 'noul']

/**
 * Reads the metadata; a bucket's own temperature takes precedence over that of its type. Types and
 * buckets without a temperature are left out.
 *
 * @throws {@link OiError} `ERR_READOUT` for a temperature that is no number above 0.
 */
export function readTemperatures(
  { architecture, metadata }: ModelInfo,
  buckets: readonly Bucket[],
): readonly Temperature[] {
  const read = (name: string): number | undefined => {
    const key = `${architecture}.decision.temperature.${name}`
    const text = metadata[key]
    if (text === undefined) return undefined
    const temperature = text.trim() === '' ? NaN : Number(text)
    if (temperature > 0 && temperature < Infinity) return temperature
    throw new OiError('ERR_READOUT', `${key}: expected a number above 0, got ${text}`)
  }
  return types.flatMap((type) => {
    const whole = read(type)
    return buckets.flatMap(({ name, atMost }, i) => {
      const temperature = read(`${type}.${name}`) ?? whole
      if (temperature === undefined) return []
      return [{ type, from: (buckets[i - 1]?.atMost ?? 0) + 1, to: atMost, temperature }]
    })
  })
}

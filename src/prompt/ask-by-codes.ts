/**
 * A question whose labels have several tokens: one suffix for each place where a token is read.
 *
 * @module
 */

import type { Step } from '../scoring/types.js'
import type { Asked, AskedSuffix } from './asked.js'
import type { Code } from './codes.js'

/**
 * Reads the probability of each complete code, over the vocabulary.
 *
 * @param text - The question, with the codes as labels.
 * @param codes - One for each option.
 */
export function askByCodes(text: string, codes: readonly Code[]): Asked {
  const places = new Map<string, { readonly suffix: number; readonly candidates: number[] }>()
  const options = codes.map((code) => {
    const steps = code.steps.map(({ before, token }): Step => {
      let place = places.get(before)
      if (place === undefined) {
        place = { suffix: places.size, candidates: [] }
        places.set(before, place)
      }
      const { suffix, candidates } = place
      const known = candidates.indexOf(token)
      return { suffix, candidate: known === -1 ? candidates.push(token) - 1 : known }
    })
    return [steps]
  })
  const suffixes = Array.from(places, ([begun, { candidates }]): AskedSuffix => {
    return { text, begun, candidates: Int32Array.from(candidates) }
  })
  return {
    suffixes,
    reading: { kind: 'steps', suffixes: suffixes.length, options, over: 'vocabulary' },
  }
}

/**
 * Which options the candidates of a question's suffixes stand for.
 *
 * @module
 */

import type { Reading } from './types.js'

/**
 * Shape [suffixes][candidates][options]: indices of options in the caller's order, no before yes
 * for a noul.
 */
export function meaningsOf(reading: Reading): readonly (readonly (readonly number[])[])[] {
  if (reading.kind === 'labels') {
    return [reading.forms.flatMap((count, option) => Array.from({ length: count }, () => [option]))]
  }
  if (reading.kind === 'scores') {
    return reading.options.flatMap((suffix, option) => (suffix === null ? [] : [[[option]]]))
  }
  return reading.orders.flatMap(({ places, reading: inOrder }) => {
    const optionAt = new Map(places.map((place, option) => [place, option]))
    return meaningsOf(inOrder).map((candidates) =>
      candidates.map((options) => options.map((place) => optionAt.get(place)!)),
    )
  })
}

/**
 * Which options the candidates of a question's suffixes stand for.
 *
 * @module
 */

import type { Reading, StepReading } from './types.js'

/**
 * Shape [suffixes][candidates][options]: indices of options in the caller's order, no before yes
 * for a noul. A group's label stands for several options; an unused candidate for none.
 */
export function meaningsOf(reading: Reading): readonly (readonly (readonly number[])[])[] {
  if (reading.kind === 'labels') {
    return [reading.forms.flatMap((count, option) => Array.from({ length: count }, () => [option]))]
  }
  if (reading.kind === 'steps') return stepMeanings(reading)
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

function stepMeanings({ suffixes, options }: StepReading): number[][][] {
  const meanings: (number[] | undefined)[][] = Array.from({ length: suffixes }, () => [])
  options.forEach((forms, option) => {
    for (const { suffix, candidate } of forms.flat()) {
      const own = (meanings[suffix]![candidate] ??= [])
      if (!own.includes(option)) own.push(option)
    }
  })
  // A candidate of no option has left a hole.
  return meanings.map((candidates) => Array.from(candidates, (own) => own ?? []))
}

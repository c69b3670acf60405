/**
 * The numbers at an axis.
 *
 * @module
 */

/**
 * About four round numbers from 0 to at least `max`.
 *
 * @param least - The smallest step: 1 for what is counted.
 */
export function ticksTo(max: number, least = 1): number[] {
  if (max <= 0) return [0, least]
  const rough = max / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const factor = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough)!
  const step = Math.max(least, factor * power)
  const count = Math.ceil(max / step)
  return Array.from({ length: count + 1 }, (_, i) => i * step)
}

/**
 * Reads whole numbers as people type them.
 *
 * @module
 */

const factors: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, b: 1e9 }

/** `12 000`, `12,000`, `12k`, `1.5M`. @returns Undefined if it is no whole number of 0 or more. */
export function readWhole(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([kmgb]?)$/.exec(text.replaceAll(/[\s,_]/g, '').toLowerCase())
  if (match === null) return undefined
  // Rounded to six decimals: 1.1 million is no whole number in binary.
  const value = Number((Number(match[1]) * factors[match[2]!]!).toFixed(6))
  return Number.isSafeInteger(value) ? value : undefined
}

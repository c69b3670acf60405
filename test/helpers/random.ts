/**
 * A small seeded generator (mulberry32), so that a failing case can be repeated.
 */

export interface Random {
  /** Uniform in [0, 1). */
  next(): number
  /** Uniform in 0 … limit - 1. */
  integer(limit: number): number
  pick<V>(values: readonly V[]): V
}

export function createRandom(seed: number): Random {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (limit: number) => Math.floor(next() * limit)
  return { next, integer, pick: (values) => values[integer(values.length)]! }
}

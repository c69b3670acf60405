/**
 * Seeded random numbers.
 *
 * @module
 */

/**
 * Uniform in [0, 1), 32 bits each: a counter, mixed (splitmix32).
 *
 * @param seed - An integer; its lowest 32 bits count.
 */
export function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}

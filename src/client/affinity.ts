/**
 * The header by which a balancer sends requests about one state to one server, which has that state
 * in its cache: a digest of the state's beginning.
 *
 * @module
 */

export const affinityHeader = 'x-oi-affinity'

/** Characters of the state's JSON; conversations that go on keep their server. */
const beginning = 1024

/**
 * @returns Eight hexadecimal digits: FNV-1a, 32 bits, over the UTF-16 units.
 * @see G. Fowler, L. C. Noll, P. Vo, D. Eastlake, "The FNV Non-Cryptographic Hash Algorithm"
 */
export function affinityOf(state: unknown): string {
  const text = JSON.stringify(state) ?? ''
  let hash = 0x811c9dc5
  for (let i = 0; i < Math.min(beginning, text.length); i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}

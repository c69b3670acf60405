/**
 * Reads `Accept` and `Accept-Encoding`: what a client takes, with its weights (RFC 9110, 12.4.2).
 *
 * @module
 */

/** Entry in lower case, without its weight -> weight, 0 to 1; an unreadable one counts as 0. */
export type Weights = ReadonlyMap<string, number>

/** @param header - `''` if there is none. */
export function weightsOf(header: string): Weights {
  const weights = new Map<string, number>()
  for (const entry of header.toLowerCase().split(',')) {
    const parts = entry.split(';').map((part) => part.trim())
    const isWeight = (part: string) => /^q\s*=/.test(part)
    const name = parts.filter((part) => !isWeight(part)).join(';')
    const weight = parts.find(isWeight)
    const value = weight === undefined ? '1' : /^q=([01](?:\.\d{0,3})?)$/.exec(weight)?.[1]
    // A name that stands twice has the later weight.
    if (name !== '') weights.set(name, Math.min(1, Number(value ?? 0)))
  }
  return weights
}

/** The weight of a media type, by the most exact entry; 0 if none has it. */
function weightOfType(weights: Weights, type: string): number {
  const [family] = type.split('/', 1)
  return namedWeight(weights, type) ?? weights.get(`${family}/*`) ?? weights.get('*/*') ?? 0
}

/** Of the type itself, whatever its parameters. */
function namedWeight(weights: Weights, type: string): number | undefined {
  const named = [...weights].filter(([entry]) => entry.split(';', 1)[0] === type)
  return named.length === 0 ? undefined : Math.max(...named.map(([, weight]) => weight))
}

/**
 * Whether a client names a media type, and prefers no other to it.
 *
 * @param accept - The value of `Accept`.
 * @param other - What it gets otherwise. On a tie, the type that it names.
 */
export function prefersType(accept: string, type: string, other: string): boolean {
  if (accept === '') return false
  const weights = weightsOf(accept)
  const weight = namedWeight(weights, type) ?? 0
  return weight > 0 && weight >= weightOfType(weights, other)
}

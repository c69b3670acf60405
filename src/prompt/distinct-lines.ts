/**
 * Gives different options different lines.
 *
 * A name that ends as another's description begins can make two lines the same, and then the model
 * cannot tell the two apart. Such options, and no others, have their texts as JSON strings, which
 * have a clear end.
 *
 * @module
 */

/**
 * @param lineOf - An option's line, without its label. Lines with JSON strings must differ for
 *   different options.
 * @returns For each option, whether its texts must be JSON strings.
 */
export function ambiguousOptions<T>(
  options: readonly T[],
  lineOf: (option: T, index: number, asJson: boolean) => string,
): readonly boolean[] {
  const byLine = new Map<string, number[]>()
  options.forEach((option, i) => {
    const line = lineOf(option, i, false)
    const same = byLine.get(line)
    if (same === undefined) byLine.set(line, [i])
    else same.push(i)
  })
  const ambiguous = options.map(() => false)
  if (byLine.size === options.length) return ambiguous
  for (const same of byLine.values()) {
    const different = new Set(same.map((i) => lineOf(options[i]!, i, true)))
    // Duplicate levels are the same in any form.
    if (different.size > 1) for (const i of same) ambiguous[i] = true
  }
  // The new JSON string may equal another option's plain name.
  const collides = options.some((option, i) => {
    const plain = ambiguous[i] ? (byLine.get(lineOf(option, i, true)) ?? []) : []
    return plain.some((other) => !ambiguous[other])
  })
  return collides ? options.map(() => true) : ambiguous
}

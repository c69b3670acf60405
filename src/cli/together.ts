/**
 * Flags that can be repeated.
 *
 * @module
 */

/** The values of such a flag so far, for commander. */
export function together(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/**
 * Options of functions: an unknown name is refused, as it is misspelt or meant for something else.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { nearestOf } from './words.js'

/**
 * @param where - The function's name, as `open()`.
 * @param meant - The right names for unknown names that are spelt differently.
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` with the nearest name, if a name is unknown; an
 *   option whose value is undefined counts as absent.
 */
export function requireKnownOptions(
  where: string,
  options: object,
  known: readonly string[],
  meant: Readonly<Record<string, string>> = {},
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || known.includes(name)) continue
    const nearest = Object.hasOwn(meant, name) ? meant[name] : nearestOf(name, known)
    throw new OiError(
      'ERR_INVALID_ARGUMENT',
      `${where}: unknown option ${name}: did you mean ${nearest}?`,
    )
  }
}

/**
 * Options of functions: a name that nobody reads is refused, as it is a misspelling or was meant
 * for something else.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { nearestOf } from './words.js'

/**
 * @param where - The function, as `open()`.
 * @param meant - What other names mean, that are nearer in meaning than in spelling.
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` with the nearest name, if one is not known; one
 *   whose value is undefined is none.
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

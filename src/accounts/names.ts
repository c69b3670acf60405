/**
 * Names of workspaces and keys.
 *
 * @module
 */

import { OiError } from '../errors.js'

const maxNameLength = 100

/**
 * Names are shown in tables and logs: printable, and short.
 *
 * @throws {@link OiError} `ERR_ACCOUNTS` naming its kind.
 */
export function checkName(what: string, name: string): void {
  if (name === '' || name.length > maxNameLength || /\p{C}/u.test(name)) {
    throw new OiError(
      'ERR_ACCOUNTS',
      `A ${what}'s name has 1 to ${maxNameLength} printable characters`,
    )
  }
}

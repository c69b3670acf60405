/**
 * Who shares what is evaluated for a request.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { ScoreOptions } from './types.js'

const longest = 256

/** @throws {@link OiError} `ERR_INVALID_ARGUMENT` if the scope is too long. */
export function scopeOf({ workspace = 0, scope = `workspace ${workspace}` }: ScoreOptions): string {
  if (scope.length <= longest) return scope
  throw new OiError('ERR_INVALID_ARGUMENT', `scope: expected at most ${longest} characters`)
}

/**
 * The id of a request in its reply's headers and in the log.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'

const maxLength = 128

/**
 * The caller's own id if it has 1 to 128 letters, digits, `.`, `_` or `-`, else a new one.
 *
 * @param header - The value of `x-request-id`, `''` if absent.
 * @returns The caller's id, or `req_` and 32 hex digits.
 */
export function requestId(header: string): string {
  // A UUID's bytes come from a pool, which is several times cheaper than a call for 16 bytes.
  return isAcceptable(header) ? header : `req_${randomUUID().replaceAll('-', '')}`
}

function isAcceptable(id: string): boolean {
  if (id.length === 0 || id.length > maxLength) return false
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i)
    const fits =
      (code >= 0x61 && code <= 0x7a) || // a-z
      (code >= 0x41 && code <= 0x5a) || // A-Z
      (code >= 0x30 && code <= 0x39) || // 0-9
      code === 0x2d || // -
      code === 0x2e || // .
      code === 0x5f // _
    if (!fits) return false
  }
  return true
}

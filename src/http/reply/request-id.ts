/**
 * The id of a request in its reply's headers and in the log.
 *
 * @module
 */

import { randomFillSync } from 'node:crypto'

const maxLength = 128
const idBytes = 16
/** Bytes of many ids are drawn at once: each by itself would cost five times as much. */
const pool = Buffer.alloc(256 * idBytes)
let used = pool.length

/**
 * The caller's own id if it has 1 to 128 letters, digits, `.`, `_` or `-`, else a new one.
 *
 * @param header - The value of `x-request-id`, `''` if absent.
 * @returns The caller's id, or `req_` and 32 hex digits.
 */
export function requestId(header: string): string {
  return isAcceptable(header) ? header : newId()
}

function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += idBytes
  return `req_${pool.toString('hex', used - idBytes, used)}`
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

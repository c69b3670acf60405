/**
 * Errors of node:http in a request's head, as errors of the wire.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import type { Head } from '../contract.js'

/** The head of a request whose head cannot be read. */
export const noHead: Head = {
  getMethod: () => '',
  getUrl: () => '',
  getQuery: () => '',
  getHeader: () => '',
  forEach: () => {},
}

/** @param cause - As in `clientError` of node:http. */
export function transportError(cause: NodeJS.ErrnoException): OiError {
  switch (cause.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new OiError('ERR_HEAD_TOO_LARGE', 'The head of the request is over 16 KiB')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return headTimeoutError()
    case 'HPE_PAUSED_H2_UPGRADE':
      return versionError()
    case 'HPE_INVALID_VERSION':
      // The same code stands for what is wrong behind a version that is known.
      return isBehindVersion(cause) ? malformed(cause) : versionError()
    case undefined:
    default:
      return malformed(cause)
  }
}

const reasonOf = (cause: Error) => (cause as { reason?: string }).reason
const isBehindVersion = (cause: Error) => reasonOf(cause)?.startsWith('Expected CRLF') ?? false

function malformed(cause: Error): OiError {
  const reason = reasonOf(cause)
  const why = reason === undefined ? '' : `: ${reason}`
  return new OiError('ERR_HTTP_MALFORMED', `The request is not well-formed HTTP${why}`, { cause })
}

export function headTimeoutError(): OiError {
  return new OiError('ERR_HEAD_TIMEOUT', 'The head of the request did not come in time')
}

export function versionError(): OiError {
  return new OiError('ERR_HTTP_VERSION', 'This server speaks HTTP/1.1 and HTTP/1.0')
}

/**
 * Reads the head of a request with a body.
 *
 * @module
 */

import { expectedOrders, type Orders, ordersFromText } from '../../api/orders.js'
import { shortened } from '../../api/place.js'
import { OiError } from '../../errors.js'
import { readTraceparent } from '../../trace/traceparent.js'
import { type Coding, codingOf } from '../bodies/inflate.js'
import { boundaryOf } from '../bodies/multipart.js'
import { everyValue, type Head } from '../contract.js'

const ordersHeader = 'x-oi-orders'

/** @returns Undefined: the model's setting. @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE`. */
export function readOrders(head: Head): Orders | undefined {
  const header = head.getHeader(ordersHeader)
  if (header === '') return undefined
  const orders = ordersFromText(header)
  if (orders !== undefined) return orders
  const got = JSON.stringify(shortened(header))
  throw new OiError(
    'ERR_REQUEST_UNACCEPTABLE',
    `${ordersHeader}: expected ${expectedOrders}, got ${got}`,
    { param: ordersHeader },
  )
}

/** @returns The body's compression. @throws {@link OiError} `ERR_ENCODING`. */
export function readCoding(head: Head): Coding | undefined {
  if (head.getHeader('content-encoding') === '') return undefined
  // Repeated headers form one list, but a transport may report only the first entry.
  return codingOf(everyValue(head, 'content-encoding'))
}

/**
 * Accepts `application/json` with any parameters, no content type, or `multipart/form-data`.
 *
 * @returns The boundary of multipart/form-data.
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE`.
 */
export function readBoundary(head: Head): string | undefined {
  const header = head.getHeader('content-type')
  if (header === 'application/json' || header === '') return undefined
  const type = header.split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'application/json') return undefined
  if (type === 'multipart/form-data') return boundaryOf(header)
  throw new OiError(
    'ERR_REQUEST_UNACCEPTABLE',
    `Content-Type: expected application/json or multipart/form-data, got ${JSON.stringify(shortened(type))}`,
  )
}

/** The `traceparent` that is sent back: a malformed one counts as none. */
export function echoed(traceparent: string): string {
  return readTraceparent(traceparent) === undefined ? '' : traceparent
}

/**
 * The header `traceparent` of W3C's Trace Context: the trace that a request is a part of.
 *
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 * @module
 */

export interface Traceparent {
  readonly traceId: string
  /** The span of the caller. */
  readonly parentId: string
  /** Whether the caller records its part. */
  readonly sampled: boolean
}

const format = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** @returns Undefined if there is none, or it is malformed, which is as good as none. */
export function readTraceparent(header: string): Traceparent | undefined {
  const [, version, traceId, parentId, flags, more] = format.exec(header) ?? []
  if (version === undefined || version === 'ff') return undefined
  // Later versions may say more, this one does not.
  if (version === '00' && more !== undefined) return undefined
  if (/^0+$/.test(traceId!) || /^0+$/.test(parentId!)) return undefined
  return { traceId: traceId!, parentId: parentId!, sampled: (parseInt(flags!, 16) & 1) === 1 }
}

/**
 * The headers of W3C's Trace Context: the trace of a request, and the state that tracing systems on
 * its way have added.
 *
 * @see https://www.w3.org/TR/trace-context/
 * @module
 */

export interface Traceparent {
  readonly traceId: string
  /** The span of the caller. */
  readonly parentId: string
  /** Whether the caller records its spans. */
  readonly sampled: boolean
}

const format = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** @returns Undefined if the header is absent or malformed. */
export function readTraceparent(header: string): Traceparent | undefined {
  const [, version, traceId, parentId, flags, more] = format.exec(header) ?? []
  if (version === undefined || version === 'ff') return undefined
  // Later versions may have more fields, version 00 does not.
  if (version === '00' && more !== undefined) return undefined
  if (/^0+$/.test(traceId!) || /^0+$/.test(parentId!)) return undefined
  return { traceId: traceId!, parentId: parentId!, sampled: (parseInt(flags!, 16) & 1) === 1 }
}

/** `vendor=value`, or `tenant@vendor=value`. */
const member = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,256}$/
/** W3C requires at least this much to be kept; the rest is left out. */
const [mostMembers, mostLength] = [32, 512]

/**
 * @param header - `tracestate`; repeated headers joined by commas.
 * @returns The state to pass on; `''` if absent or malformed. The oldest entries are last, and are
 *   left out beyond the limit.
 */
export function readTracestate(header: string): string {
  const members = header.split(',').map((text) => text.trim())
  const kept = members.filter((text) => text !== '')
  if (kept.length > mostMembers || !kept.every((text) => member.test(text))) return ''
  while (kept.join(',').length > mostLength) kept.pop()
  return kept.join(',')
}

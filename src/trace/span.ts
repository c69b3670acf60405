/**
 * A span: one named stretch of a request's time.
 *
 * @module
 */

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface Span {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  /** Undefined for the first span of a trace. */
  readonly parentId: string | undefined
  /** The trace state of other tracing systems; `''` if there is none. */
  readonly traceState: string
  readonly name: string
  /** A request as the server sees it, or a part of it. */
  readonly kind: 'server' | 'internal'
  /** Milliseconds since 1970. */
  readonly startMs: number
  readonly endMs: number
  /** Undefined values are left out. */
  readonly attributes: Attributes
  /** Whether the server is to blame for the failure. */
  readonly failed: boolean
}

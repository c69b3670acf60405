/**
 * A span: one stretch of a request's time, with a name.
 *
 * @module
 */

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface Span {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  /** Undefined for one that nothing began before. */
  readonly parentId: string | undefined
  /** What other tracing systems have said of the trace; `''` if they have not. */
  readonly traceState: string
  readonly name: string
  /** Of a request as the server sees it, or of a part of it. */
  readonly kind: 'server' | 'internal'
  /** Milliseconds since 1970. */
  readonly startMs: number
  readonly endMs: number
  /** What is undefined is left out. */
  readonly attributes: Attributes
  /** Whether the server is to blame for what was wrong. */
  readonly failed: boolean
}

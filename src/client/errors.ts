/**
 * The one error of the client: why the server refused a request, or why no reply came.
 *
 * @module
 */

import type { errorTable, InterfaceCode } from '../errors.js'

/** Codes of the interface's error body. */
export type ServerCode = (typeof errorTable)[InterfaceCode]['wire']

/**
 * Codes of the client itself:
 * - `connection_failed`: no whole reply came, and `cause` says what the network did;
 * - `request_timeout`: an attempt took longer than its `timeoutMs`;
 * - `request_aborted`: the caller's signal aborted; its reason is the `cause`;
 * - `unexpected_reply`: the reply is not one of this interface, but a proxy's for example.
 */
export type ClientCode =
  'connection_failed' | 'request_timeout' | 'request_aborted' | 'unexpected_reply'

/** Facts about a failure besides its code and message. */
export interface RequestErrorDetails {
  readonly status?: number | undefined
  readonly param?: string | undefined
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/** Why a call has no result. */
export class OiRequestError extends Error {
  override readonly name = 'OiRequestError'
  /** Stable, for programs. A newer server may have codes that are not listed here. */
  readonly code: ServerCode | ClientCode | (string & Record<never, never>)
  /** The HTTP status; undefined if no reply came. */
  readonly status: number | undefined
  /** The place in the body that is wrong, as `questions.team.criteria`. */
  readonly param: string | undefined
  /** The id to look for in the server's log; the caller's own if no reply came. */
  readonly requestId: string | undefined
  /** How long the server asks to wait before a retry, milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(code: OiRequestError['code'], message: string, details: RequestErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = details.status
    this.param = details.param
    this.requestId = details.requestId
    this.retryAfterMs = details.retryAfterMs
  }
}

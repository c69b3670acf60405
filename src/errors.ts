/**
 * The error table: every stable code, its HTTP status, and its code on the wire.
 *
 * `code` is for programs and never changes its meaning; the message is for people. The native
 * engine uses codes of this table too; a test compares them.
 *
 * @module
 */

/** Code -> HTTP status and the wire's `error.code`. */
export const errorTable = {
  // The request's text
  ERR_BODY_INVALID: { status: 422, wire: 'invalid_request' },
  ERR_REQUEST_UNACCEPTABLE: { status: 400, wire: 'invalid_request' },
  ERR_IDEMPOTENCY_KEY: { status: 422, wire: 'idempotency_key_reused' },
  ERR_STATE_TOO_LONG: { status: 400, wire: 'invalid_request' },
  ERR_BODY_TOO_LARGE: { status: 413, wire: 'payload_too_large' },
  ERR_ENCODING: { status: 415, wire: 'invalid_request' },
  // Errors that the transport finds
  ERR_HTTP_MALFORMED: { status: 400, wire: 'invalid_request' },
  ERR_HEAD_TIMEOUT: { status: 408, wire: 'timeout' },
  ERR_BODY_TIMEOUT: { status: 408, wire: 'timeout' },
  ERR_EXPECTATION: { status: 417, wire: 'invalid_request' },
  ERR_HEAD_TOO_LARGE: { status: 431, wire: 'invalid_request' },
  ERR_HTTP_VERSION: { status: 505, wire: 'invalid_request' },
  // The caller
  ERR_API_KEY: { status: 401, wire: 'invalid_api_key' },
  ERR_BALANCE: { status: 402, wire: 'insufficient_balance' },
  ERR_RATE_LIMIT: { status: 429, wire: 'rate_limit_exceeded' },
  ERR_CONCURRENCY: { status: 429, wire: 'concurrency_limit_exceeded' },
  ERR_NOT_FOUND: { status: 404, wire: 'not_found' },
  ERR_METHOD_NOT_ALLOWED: { status: 405, wire: 'method_not_allowed' },
  // The administrator
  ERR_SESSION: { status: 401, wire: 'invalid_session' },
  ERR_PASSWORD: { status: 401, wire: 'invalid_password' },
  ERR_FORBIDDEN: { status: 403, wire: 'forbidden' },
  ERR_CONFLICT: { status: 409, wire: 'conflict' },
  ERR_ATTEMPTS: { status: 429, wire: 'too_many_attempts' },
  // The server's state
  ERR_OVERLOADED: { status: 503, wire: 'overloaded' },
  ERR_ENGINE_NOT_OPEN: { status: 503, wire: 'overloaded' },
  ERR_ENGINE_CLOSED: { status: 503, wire: 'overloaded' },
  ERR_TIMEOUT: { status: 504, wire: 'timeout' },
  // Never answered: the client has gone.
  ERR_ABORTED: { status: 503, wire: 'overloaded' },
  // Opening a model
  ERR_MODEL_NOT_FOUND: { status: 500, wire: 'internal_error' },
  ERR_MODEL_LOAD: { status: 500, wire: 'internal_error' },
  ERR_MODEL_UNSUPPORTED: { status: 500, wire: 'internal_error' },
  ERR_MODEL_MEMORY: { status: 500, wire: 'internal_error' },
  ERR_READOUT: { status: 500, wire: 'internal_error' },
  ERR_CALIBRATION: { status: 500, wire: 'internal_error' },
  ERR_ADDON_NOT_FOUND: { status: 500, wire: 'internal_error' },
  ERR_PACKAGE_NOT_FOUND: { status: 500, wire: 'internal_error' },
  // Fetching a model
  ERR_PULL: { status: 500, wire: 'internal_error' },
  // Asking another server
  ERR_REMOTE: { status: 500, wire: 'internal_error' },
  // Faults
  ERR_INVALID_ARGUMENT: { status: 500, wire: 'internal_error' },
  ERR_LISTEN: { status: 500, wire: 'internal_error' },
  ERR_CONFIG: { status: 500, wire: 'internal_error' },
  ERR_ACCOUNTS: { status: 500, wire: 'internal_error' },
  ERR_ENGINE_INTERNAL: { status: 500, wire: 'internal_error' },
} as const satisfies Record<string, { status: number; wire: string }>

export type ErrorCode = keyof typeof errorTable

/** The wire's `error.type`: the kinds of errors that OpenAI's clients know. */
export function errorTypeOf(status: number): string {
  if (status >= 500) return 'server_error'
  if (status === 429) return 'rate_limit_error'
  return status === 402 ? 'insufficient_quota' : 'invalid_request_error'
}

/** Codes that only administrators meet: `/v1` never answers with them. */
export const adminCodes = [
  ...(['ERR_SESSION', 'ERR_PASSWORD', 'ERR_FORBIDDEN', 'ERR_CONFLICT', 'ERR_ATTEMPTS'] as const),
] satisfies ErrorCode[]

/** Codes of `/v1` and of every other route that is not for administrators. */
export type InterfaceCode = Exclude<ErrorCode, (typeof adminCodes)[number]>

/** Further facts about a failure. */
export interface ErrorDetails {
  /** The place in the body that is wrong, as `questions.team.criteria`. */
  param?: string
  /** How long a client should wait before it retries. */
  retryAfterMs?: number
  /** The content codings that the server accepts. */
  accepts?: string
  /** The engine's: index of the suffix that a text too long belongs to, if it is not the state. */
  suffix?: number
  /** The engine's: what the request took until it failed. */
  spent?: SpentMs
  cause?: unknown
}

/** Milliseconds of a request. */
export interface SpentMs {
  readonly queue: number
  readonly tokenize: number
  /** Decoding images, waiting for the decoder, and encoding. Not part of `model`. */
  readonly vision: number
  readonly model: number
}

/** Every error that this package throws on purpose. */
export class OiError extends Error {
  override readonly name = 'OiError'
  readonly code: ErrorCode
  readonly param: string | undefined
  readonly retryAfterMs: number | undefined
  readonly accepts: string | undefined
  readonly suffix: number | undefined
  readonly spent: SpentMs | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.param = details.param
    this.retryAfterMs = details.retryAfterMs
    this.accepts = details.accepts
    this.suffix = details.suffix
    this.spent = details.spent
  }
}

/** Whether it may be tried again. */
export function isOverload(error: unknown): error is OiError {
  return error instanceof OiError && error.code === 'ERR_OVERLOADED'
}

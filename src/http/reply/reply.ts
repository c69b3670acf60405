/**
 * Replies: status, headers and body, as every transport writes them.
 *
 * @module
 */

import type { Timings } from '../../decide/types.js'
import { errorTable, errorTypeOf, OiError } from '../../errors.js'
import type { Content } from '../contract.js'

/** The status of a head or a body that did not come in time: nothing more is read. */
export const requestTimeout = 408

/** A content whose body is text. */
interface TextContent extends Content {
  readonly body: string
}

/** The number of input tokens that came from a cache. */
export const cachedTokensHeader = 'x-oi-cached-tokens'

export const noTimings: Timings = { queue: 0, tokenize: 0, vision: 0, model: 0 }

/** The longest default wait before the next try, if the error states none. */
const standardRetryAfterMs = 1000
const maxRetryAfterMs = 60_000

/** The common headers, followed by the content's own. */
export function headersOf(
  id: string,
  timings: Timings,
  totalMs: number,
  { type = 'application/json', headers: more }: Pick<Content, 'type' | 'headers'>,
): string[] {
  const headers = [
    'content-type',
    type,
    'x-request-id',
    id,
    'x-typesafe-request-id',
    id,
    'server-timing',
    serverTiming(timings, totalMs),
  ]
  if (more !== undefined) headers.push(...more)
  return headers
}

/**
 * The wire's form of an error. An error that is no {@link OiError}, or has status 500, is a fault
 * of the server: its text stays in the log, and the reply names the id to search for.
 */
export function errorContent(error: unknown, id: string): TextContent {
  if (!(error instanceof OiError) || errorTable[error.code].status === 500) {
    return {
      status: 500,
      body: errorBody(
        { status: 500, wire: 'internal_error' },
        `The server failed; its log has more under ${id}`,
      ),
    }
  }
  const kind = errorTable[error.code]
  const { status }: { status: number } = kind
  const body = errorBody(kind, error.message, error.param)
  const headers: string[] = []
  if (status === 415) headers.push('accept-encoding', error.accepts ?? 'identity')
  if (status === 401) headers.push('www-authenticate', challengeOf(error))
  if (error.retryAfterMs !== undefined || status === 503 || status === 429) {
    const ms = spreadOut(error.retryAfterMs)
    headers.push(
      'retry-after',
      String(Math.ceil(ms / 1000)),
      'retry-after-ms',
      String(Math.ceil(ms)),
    )
  }
  return { status, body, headers }
}

/** The credential that is missing: a key, or a session's cookie. */
function challengeOf({ code }: OiError): string {
  return code === 'ERR_API_KEY' ? 'Bearer' : 'Cookie realm="oi admin"'
}

/**
 * Spreads the waits, so that callers refused together do not return together; never shorter than a
 * known wait.
 */
function spreadOut(knownMs: number | undefined): number {
  const share = Math.random() / 2
  const ms =
    knownMs === undefined ? standardRetryAfterMs * (1 - share) : Math.max(knownMs, 1) * (1 + share)
  return Math.min(ms, maxRetryAfterMs)
}

function errorBody(
  { status, wire: code }: { status: number; wire: string },
  message: string,
  param?: string,
): string {
  const type = errorTypeOf(status)
  // JSON.stringify leaves out a param that is undefined.
  return JSON.stringify({ error: { code, message, type, param }, detail: message })
}

function serverTiming({ queue, tokenize, vision, model }: Timings, totalMs: number): string {
  return (
    `queue;dur=${twoPlaces(queue)}, tokenize;dur=${twoPlaces(tokenize)}, ` +
    `vision;dur=${twoPlaces(vision)}, model;dur=${twoPlaces(model)}, total;dur=${twoPlaces(totalMs)}`
  )
}

const hundredths = Array.from({ length: 100 }, (_, i) => `.${String(i).padStart(2, '0')}`)

/** A time of at least 0 with two decimal places: five `toFixed(2)` took .8 µs of a request more. */
function twoPlaces(ms: number): string {
  const count = Math.round(ms * 100)
  const whole = Math.floor(count / 100)
  return `${whole}${hundredths[count - 100 * whole]}`
}

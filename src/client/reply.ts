/**
 * Replies: what they hold, or the error that they are.
 *
 * @module
 */

import { OiRequestError } from './errors.js'
import { readRetryAfter } from './retry.js'

/** A reply of success whose body has been read. */
export interface Reply {
  readonly status: number
  readonly text: string
  readonly requestId: string | undefined
  readonly cachedTokens: number | undefined
}

type Fields = Readonly<Record<string, unknown>>

export function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined
}

/** Undefined from a server of another make. */
export function cachedTokensOf({ headers }: Response): number | undefined {
  const header = headers.get('x-oi-cached-tokens')
  return header === null ? undefined : Number(header)
}

/** The error that a reply without success is. @param text - Its body. */
export function errorOf(response: Response, text: string): OiRequestError {
  const { status, headers } = response
  const details = {
    status,
    requestId: requestIdOf(response),
    retryAfterMs: readRetryAfter(headers),
  }
  const error = fieldsOf(fieldsOf(parse(text))?.['error'])
  const { code, message, param }: Fields = error ?? {}
  if (typeof code === 'string' && typeof message === 'string') {
    const place = typeof param === 'string' ? param : undefined
    return new OiRequestError(code, message, { ...details, param: place })
  }
  return unexpected(`an error of this interface with status ${status}`, text, details)
}

/**
 * A reply of success.
 *
 * @param field - Of an object or an array, which must be there; the rest is taken on trust.
 * @throws {@link OiRequestError} `unexpected_reply`.
 */
export function readReply<T extends object>({ text, ...reply }: Reply, field: keyof T & string): T {
  const fields = fieldsOf(parse(text))
  if (typeof fields?.[field] === 'object' && fields[field] !== null) return fields as T
  throw unexpected(`JSON with ${field}`, text, { status: reply.status, requestId: reply.requestId })
}

/** The fields of one line of a stream. @throws {@link OiRequestError} `unexpected_reply`. */
export function readLine(line: string, response: Response): Fields {
  const fields = fieldsOf(parse(line))
  if (fields !== undefined) return fields
  throw unexpected('a JSON object in each line', line, {
    status: response.status,
    requestId: requestIdOf(response),
  })
}

/** @param text - What came instead; only its beginning is shown. */
export function unexpected(
  expected: string,
  text: string,
  details: { status: number; requestId: string | undefined },
): OiRequestError {
  const got = text.trim() === '' ? 'nothing' : text.trim().slice(0, 200)
  return new OiRequestError('unexpected_reply', `Expected ${expected}, got ${got}`, details)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null ? (value as Fields) : undefined
}

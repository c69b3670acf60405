/**
 * Reads replies: their content, or their error.
 *
 * @module
 */

import { OiRequestError } from './errors.js'
import { readRetryAfter } from './retry.js'

/** A successful reply whose body has been read. */
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

/** Undefined if the server is not oi. */
export function cachedTokensOf({ headers }: Response): number | undefined {
  const header = headers.get('x-oi-cached-tokens')
  return header === null ? undefined : Number(header)
}

/** The error of an unsuccessful reply. @param text - Its body. */
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
 * Reads a successful reply.
 *
 * @param field - A member that must be an object or an array; the rest is not checked.
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

/** @param text - The text that came instead; the message shows only its beginning. */
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

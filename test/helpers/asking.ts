/**
 * Requests with a key, as clients send them.
 */
import type { StubServer } from './stub.js'

export type Address = Pick<StubServer, 'url' | 'key'>

export const decidePath = '/v1/systemone'
export const batchPath = '/v1/systemone/batch'
export const linesType = 'application/x-ndjson'

/** The headers of a body of JSON. */
export const headersOf = (key: string, more: Readonly<Record<string, string>> = {}) => ({
  ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  ...more,
})

/** @param body - A text is sent unchanged, anything else as JSON. */
export function post(
  { url, key }: Address,
  body: unknown = {},
  headers: Readonly<Record<string, string>> = {},
  path = decidePath,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: headersOf(key, headers),
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  })
}

export const get = ({ url, key }: Address, path: string) =>
  fetch(url + path, { headers: { authorization: `Bearer ${key}` } })

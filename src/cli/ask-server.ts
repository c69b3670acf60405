/**
 * Asks a running server instead of a model of one's own.
 *
 * @module
 */

import { OiError } from '../errors.js'

export interface ServerQuestion {
  /** With or without `/v1` at its end. */
  readonly url: string
  readonly key: string
  /** The text of the request body. */
  readonly body: string
  readonly evidence: boolean
}

/**
 * @returns The text of the response body.
 * @throws {@link OiError} `ERR_CONFIG` for an address or key that cannot be one, `ERR_REMOTE`
 *   with the server's own status, code and message, or why it could not be reached.
 */
export async function askServer({ url, key, body, evidence }: ServerQuestion): Promise<string> {
  const endpoint = endpointOf(url)
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new OiError(
      'ERR_CONFIG',
      'The key holds characters that no key has: see --key and OI_KEY',
    )
  }
  const headers: Record<string, string> = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
  }
  if (evidence) headers['x-oi-evidence'] = '1'
  try {
    const response = await fetch(endpoint, { method: 'POST', headers, body })
    const text = await response.text()
    if (response.ok) return text
    throw new OiError('ERR_REMOTE', `${endpoint} answered ${response.status} ${errorOf(text)}`)
  } catch (cause) {
    if (cause instanceof OiError) throw cause
    throw new OiError('ERR_REMOTE', `Cannot reach ${endpoint}: ${reasonOf(cause)}`, { cause })
  }
}

function endpointOf(url: string): string {
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (base === undefined || !/^https?:$/.test(base.protocol)) {
    throw new OiError(
      'ERR_CONFIG',
      `--url: expected an address like http://localhost:8080, got ${url}`,
    )
  }
  return `${base.origin}${base.pathname.replace(/\/*$/, '').replace(/\/v1$/, '')}/v1/systemone`
}

/** `code: message` of the interface's error body, or the text's beginning. */
function errorOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } }
    return `${error.code}: ${error.message}`
  } catch {
    // Not of this interface: a proxy, or another kind of server.
    return text.slice(0, 200)
  }
}

/** Node says "fetch failed"; the reason is below it. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: NodeJS.ErrnoException }
  if (cause?.code === 'ECONNREFUSED') return 'nothing listens there (oi serve starts a server)'
  return cause?.message || cause?.code || (error as Error).message
}

/**
 * Addresses of servers, as flags name them.
 *
 * @module
 */

import { OiError } from '../errors.js'

/**
 * The address in front of `/v1`, without a slash at its end.
 *
 * @param text - With or without `/v1` at its end.
 * @throws {@link OiError} `ERR_CONFIG` naming the flag, unless it is a http or https address.
 * @example
 * ```ts
 * serverAddress('--url', 'http://localhost:8080/v1/') // 'http://localhost:8080'
 * ```
 */
export function serverAddress(flag: string, text: string): string {
  const base = URL.canParse(text) ? new URL(text) : undefined
  if (base === undefined || !/^https?:$/.test(base.protocol)) {
    throw new OiError(
      'ERR_CONFIG',
      `${flag}: expected an address like http://localhost:8080, got ${text}`,
    )
  }
  return `${base.origin}${base.pathname.replace(/\/*$/, '').replace(/\/v1$/, '')}`
}

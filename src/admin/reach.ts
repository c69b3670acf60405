/**
 * Where the admin API may be used from, before any sign-in.
 *
 * Rules
 *   1. By default, from this machine only.
 *   2. A page of another origin changes nothing, and cannot sign in.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { TrustedProxies } from '../http/access/client-address.js'
import { whyElsewhere } from '../http/access/this-machine.js'
import { everyValue, type Head } from '../http/contract.js'

export type AdminMode = 'loopback' | 'on'

/** The origin of a request. */
export interface Origin {
  /** The client's address, also behind trusted proxies. */
  readonly address: string
  /** Whether the request came over TLS, at least to the proxy. */
  readonly secure: boolean
}

interface ReachOptions {
  readonly mode: AdminMode
  readonly tls: boolean
  readonly trustedProxies: TrustedProxies
}

/**
 * @param peer - The address of the connection's peer.
 * @throws {@link OiError} `ERR_FORBIDDEN`.
 */
export function originOf(head: Head, peer: string, options: ReachOptions): Origin {
  const { mode, tls, trustedProxies } = options
  const trusted = trustedProxies.trusts(peer)
  const address = trustedProxies.clientOf(peer, everyValue(head, 'x-forwarded-for'))
  // Each proxy of a chain may add its own; the first is the client's.
  const [proto] = (trusted ? everyValue(head, 'x-forwarded-proto') : '').split(',', 1)
  const origin = { address, secure: tls || proto!.trim().toLowerCase() === 'https' }
  if (mode === 'on') return origin
  const elsewhere = whyElsewhere(head, peer, trustedProxies)
  if (elsewhere === 'address') {
    throw new OiError(
      'ERR_FORBIDDEN',
      'The admin API answers only this machine (--admin loopback; behind a proxy on it, ' +
        'set --trusted-proxies)',
    )
  }
  if (elsewhere === 'host') {
    const remedy = 'open it as http://localhost, or see --admin on'
    throw new OiError('ERR_FORBIDDEN', `Host: expected localhost: ${remedy}`)
  }
  return origin
}

/** Rule 2. @throws {@link OiError} `ERR_FORBIDDEN`. */
export function requireOwnPage(head: Head, peer: string, trustedProxies: TrustedProxies): void {
  const site = head.getHeader('sec-fetch-site')
  const from = head.getHeader('origin')
  // Browsers send the first header to hosts that they trust, and the second with every change.
  if (site === 'same-origin' || site === 'none' || (site === '' && from === '')) return
  if (site === '') {
    const asked = trustedProxies.trusts(peer) ? head.getHeader('x-forwarded-host') : ''
    const host = (asked || head.getHeader('host')).toLowerCase()
    if (URL.canParse(from) && new URL(from).host === withoutUsualPort(host, from)) return
  }
  throw new OiError('ERR_FORBIDDEN', 'A page of another origin may not use the admin API')
}

/** A host as an origin has it: without the scheme's default port. */
function withoutUsualPort(host: string, origin: string): string {
  const { protocol } = new URL(origin)
  const usual = protocol === 'https:' ? ':443' : ':80'
  return host.endsWith(usual) ? host.slice(0, -usual.length) : host
}

/**
 * From where the admin API may be used at all, before anybody says who they are.
 *
 * Rules
 *   1. By default from this machine alone.
 *   2. A page of another origin changes nothing, signing in included.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import type { TrustedProxies } from '../access/client-address.js'
import { everyValue, type Head } from '../transport/head.js'
import { whyElsewhere } from '../access/this-machine.js'

export type AdminMode = 'loopback' | 'on'

/** Where a request came from. */
export interface Origin {
  /** The client's address, behind trusted proxies too. */
  readonly address: string
  /** Whether it came over TLS, at least to the proxy. */
  readonly secure: boolean
}

export interface ReachOptions {
  readonly mode: AdminMode
  readonly tls: boolean
  readonly trustedProxies: TrustedProxies
}

/**
 * @param peer - The address at the other end of the connection.
 * @throws {@link OiError} `ERR_FORBIDDEN`.
 */
export function originOf(head: Head, peer: string, options: ReachOptions): Origin {
  const { mode, tls, trustedProxies } = options
  const trusted = trustedProxies.trusts(peer)
  const address = trustedProxies.clientOf(peer, everyValue(head, 'x-forwarded-for'))
  const proto = trusted ? head.getHeader('x-forwarded-proto') : ''
  const origin = { address, secure: tls || proto.toLowerCase() === 'https' }
  if (mode === 'on') return origin
  const elsewhere = whyElsewhere(head, peer, trustedProxies)
  if (elsewhere === 'address') {
    throw new OiError(
      'ERR_FORBIDDEN',
      'The admin API answers this machine alone (--admin loopback; behind a proxy on it, ' +
        '--trusted-proxies says whom to believe)',
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
  // Browsers tell the first to hosts that they trust, and the second always with a change.
  if (site === 'same-origin' || site === 'none' || (site === '' && from === '')) return
  if (site === '') {
    const asked = trustedProxies.trusts(peer) ? head.getHeader('x-forwarded-host') : ''
    const host = (asked || head.getHeader('host')).toLowerCase()
    if (URL.canParse(from) && new URL(from).host === withoutUsualPort(host, from)) return
  }
  throw new OiError('ERR_FORBIDDEN', 'A page of another origin may not use the admin API')
}

/** As an origin has it: without the port that its scheme has anyway. */
function withoutUsualPort(host: string, origin: string): string {
  const { protocol } = new URL(origin)
  const usual = protocol === 'https:' ? ':443' : ':80'
  return host.endsWith(usual) ? host.slice(0, -usual.length) : host
}

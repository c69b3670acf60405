/**
 * Whether a request comes from this machine, for what nobody else may do.
 *
 * Rules
 *   1. A request that a proxy has passed on comes from this machine only if the proxy is trusted and
 *      says so: one that is not would hide the whole world behind its own address.
 *   2. A name that leads to this machine is not this machine's (DNS rebinding): the host that is
 *      asked for is one of loopback then.
 *
 * @module
 */

import { isLoopback, type TrustedProxies } from './client-address.js'
import { everyValue, type Head } from '../transport/head.js'

/** What proxies add by which they are known. */
const passedOn = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']
const localHost = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])\.?(?::\d+)?$/i

/**
 * @param peer - The address at the other end of the connection.
 * @returns What tells that it comes from elsewhere; undefined if it comes from this machine.
 */
export function whyElsewhere(
  head: Head,
  peer: string,
  trustedProxies: TrustedProxies,
): 'address' | 'host' | undefined {
  const trusted = trustedProxies.trusts(peer)
  const address = trustedProxies.clientOf(peer, everyValue(head, 'x-forwarded-for'))
  const byProxy = passedOn.some((name) => head.getHeader(name) !== '')
  if (!isLoopback(address) || (byProxy && !trusted)) return 'address'
  const host = head.getHeader('host')
  return trusted || host === '' || localHost.test(host) ? undefined : 'host'
}

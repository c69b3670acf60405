/**
 * Whether a request comes from this machine, for rights that only this machine has.
 *
 * Rules
 *   1. A request through a proxy comes from this machine only if the proxy is trusted and says so:
 *      an untrusted proxy would hide every client behind its own address.
 *   2. A host name that resolves to this machine is not enough (DNS rebinding): the requested host
 *      must be a loopback name or address.
 *
 * @module
 */

import { isLoopback, type TrustedProxies } from './client-address.js'
import { everyValue, type Head } from '../contract.js'

/** Headers by which a proxy is recognised. */
const passedOn = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']
const localHost = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])\.?(?::\d+)?$/i

/**
 * @param peer - The address of the connection's peer.
 * @returns The reason to think that the request comes from elsewhere; undefined if it is from here.
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

/**
 * The client's address, also behind trusted proxies.
 *
 * @module
 */

import { BlockList, isIP, isIPv6 } from 'node:net'
import { OiError } from '../../errors.js'

/**
 * Entries of X-Forwarded-For that are read: anybody can write the header, so the work is bounded.
 */
const mostEntries = 32
const mapped = /^(?:0{0,4}:){2,7}ffff:(?=(?:\d+\.){3}\d+$|[0-9a-f]{1,4}:[0-9a-f]{1,4}$)/i

/** Proxies whose X-Forwarded-For is believed: addresses and networks. */
export class TrustedProxies {
  readonly #list = new BlockList()

  /** @param entries - Such as `10.0.0.1`, `10.0.0.0/8`, `fd00::/8`; checked already. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [address, bits] = entry.split('/') as [string, string | undefined]
      const family = isIPv6(address) ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#list.addAddress(address, family)
      else this.#list.addSubnet(address, Number(bits), family)
    }
  }

  /**
   * The client behind trusted proxies: X-Forwarded-For is read from its end, where each proxy adds
   * its peer, up to the first address that is not a trusted proxy.
   *
   * @param address - The connection's peer.
   * @param forwarded - The value of X-Forwarded-For, `''` if absent.
   */
  clientOf(address: string, forwarded: string): string {
    let client = plainAddress(address)
    if (forwarded === '' || !this.trusts(client)) return client
    for (const entry of forwarded.split(',').slice(-mostEntries).reverse()) {
      const next = plainAddress(withoutPort(entry.trim()))
      if (isIP(next) === 0) break
      client = next
      if (!this.trusts(client)) break
    }
    return client
  }

  /** Whether the address is a trusted proxy's. */
  trusts(address: string): boolean {
    const plain = plainAddress(address)
    const kind = isIP(plain)
    return kind !== 0 && this.#list.check(plain, kind === 6 ? 'ipv6' : 'ipv4')
  }
}

/**
 * Reads the setting `trustedProxies`.
 *
 * @param setting - Addresses and networks, separated by commas; `''` for none.
 * @throws {@link OiError} `ERR_CONFIG` naming the setting.
 */
export function createTrustedProxies(setting: string): TrustedProxies {
  const entries = setting.split(',').map((entry) => entry.trim())
  try {
    return new TrustedProxies(entries.filter((entry) => entry !== ''))
  } catch (cause) {
    const message = `--trusted-proxies: ${(cause as Error).message}`
    throw new OiError('ERR_CONFIG', message, { cause })
  }
}

/** An IPv4 address written as IPv6 (`::ffff:10.0.0.1`), as plain IPv4. */
export function plainAddress(address: string): string {
  if (!mapped.test(address)) return address
  const rest = address.replace(mapped, '')
  if (rest.includes('.')) return rest
  return rest
    .split(':')
    .map((group) => parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')
}

/** Whether an address is a loopback address. */
export function isLoopback(address: string): boolean {
  const plain = plainAddress(address)
  return plain === '::1' || /^127(?:\.\d{1,3}){3}$/.test(plain) || isLongLoopback(plain)
}

/** `0:0:0:0:0:0:0:1`, as uWebSockets.js writes it. */
function isLongLoopback(address: string): boolean {
  return /^(?:0{1,4}:){7}0{0,3}1$/.test(address)
}

/** The network of one household: an IPv4 address, or the first half of an IPv6 address. */
export function networkOf(address: string): string {
  const plain = plainAddress(address)
  if (!plain.includes(':')) return plain
  const [before = '', after] = plain.split('%')[0]!.split('::')
  const head = before === '' ? [] : before.split(':')
  const tail = after === undefined || after === '' ? [] : after.split(':')
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  const groups = after === undefined ? head : [...head, ...zeros, ...tail]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
    .join(':')}::/64`
}

/** Removes the port: some proxies write `10.0.0.1:5000` or `[fd00::1]:5000`. */
function withoutPort(entry: string): string {
  const [, bracketed, dotted] = /^\[([^\]]*)\](?::\d+)?$|^((?:\d+\.){3}\d+):\d+$/.exec(entry) ?? []
  return bracketed ?? dotted ?? entry
}

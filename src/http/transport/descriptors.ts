/**
 * The limit of connections, so that descriptors are left for files.
 *
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs'

/** Descriptors for other things than connections, as `kReserved` of native/transport. */
const reserved = 64

/**
 * @returns The descriptors that this process may still open; infinite if the system does not tell.
 */
export function mostConnections(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1')
    const most = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity)
    const open = readdirSync('/proc/self/fd').length
    return Math.max(1, most - open - Math.min(reserved, Math.floor(most / 4)))
  } catch {
    return Infinity
  }
}

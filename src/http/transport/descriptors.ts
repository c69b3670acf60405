/**
 * How many connections there may be, so that descriptors are left for files.
 *
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs'

/** For what is opened beside connections, as `kReservedDescriptors` of native/transport. */
const reserved = 64

/** @returns What this process may still open; without an end where the system does not tell. */
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

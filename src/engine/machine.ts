/**
 * What this process may use of the machine: the addon counts, for itself and for everybody.
 *
 * On Linux its affinity and all control groups that it is in, of both versions, as far up as they
 * can be seen.
 *
 * @module
 */

import { totalmem } from 'node:os'
import { loadAddon } from './native.js'

/**
 * How much memory this process could still take. The pages of files do not count as taken.
 *
 * @param root - Stands for `/`.
 * @returns Bytes. Elsewhere than on Linux all memory that the machine has.
 * @throws {@link OiError} `ERR_ADDON_NOT_FOUND`.
 */
export function availableMemory(root = ''): number {
  return loadAddon().machine(root).availableBytes ?? totalmem()
}

/**
 * @param root - Stands for `/`.
 * @returns Physical cores that this process may use, at least 1.
 * @throws {@link OiError} `ERR_ADDON_NOT_FOUND`.
 */
export function availableCores(root = ''): number {
  return loadAddon().machine(root).cores
}

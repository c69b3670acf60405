/**
 * The cores and the memory that this process may use, as the addon counts them.
 *
 * On Linux it considers the affinity and all control groups of the process, of both versions, as
 * far up as they are visible.
 *
 * @module
 */

import { totalmem } from 'node:os'
import { loadAddon } from './native.js'

/**
 * How much memory this process could still allocate. The page cache counts as free.
 *
 * @param root - Stands for `/`.
 * @returns Bytes. Outside of Linux, all memory of the machine.
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

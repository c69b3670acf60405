/**
 * Shared memory in which the engines of all runners see which of them compute, so that they share
 * the machine's cores. Its layout is in native/threads/core_shares.h.
 *
 * A file without a name; every runner gets a descriptor of it.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { openSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Size of `CoreShares::Table`. An addon that expects another size does not use it. */
const tableBytes = 65 * 64

let made: number | 'ignore' | undefined

/**
 * The table of all runners of this process, made on first use.
 *
 * @returns Its descriptor for a child's `stdio`; `ignore` if there is no such memory.
 */
export function coreTable(): number | 'ignore' {
  made ??= process.platform === 'win32' ? 'ignore' : make()
  return made
}

function make(): number | 'ignore' {
  // Files in /dev/shm are never written to a disk.
  for (const folder of ['/dev/shm', tmpdir()]) {
    const path = join(folder, `oi-cores-${randomUUID()}`)
    try {
      const fd = openSync(path, 'wx+', 0o600)
      unlinkSync(path)
      // Written, not only sized: if memory is full, it fails here and not in the runners.
      writeSync(fd, Buffer.alloc(tableBytes))
      return fd
    } catch {
      continue // no such folder, or not writable
    }
  }
  return 'ignore'
}

/**
 * Memory in which the engines of all runners see which of them compute, so that they share the
 * machine's cores: native/threads/core_shares.h has what is in it.
 *
 * A file without a name, which every runner is given a descriptor of.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { openSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Of `CoreShares::Table`. An addon that expects another size goes without. */
const tableBytes = 65 * 64

let made: number | 'ignore' | undefined

/**
 * The table of all runners of this process, made on first use.
 *
 * @returns Its descriptor for a child's `stdio`; `ignore` where there is no such memory.
 */
export function coreTable(): number | 'ignore' {
  made ??= process.platform === 'win32' ? 'ignore' : make()
  return made
}

function make(): number | 'ignore' {
  // Where it is, the memory of files there is never written to a disk.
  for (const folder of ['/dev/shm', tmpdir()]) {
    const path = join(folder, `oi-cores-${randomUUID()}`)
    try {
      const fd = openSync(path, 'wx+', 0o600)
      unlinkSync(path)
      // Written, not only sized: memory that is full then fails here, and not under the runners.
      writeSync(fd, Buffer.alloc(tableBytes))
      return fd
    } catch {
      continue // no such folder, or nothing can be written there
    }
  }
  return 'ignore'
}

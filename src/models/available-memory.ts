/**
 * How much memory this process could still take.
 *
 * On Linux: what the kernel counts as available, and no more than what the control groups of the
 * process leave. The pages of files count as used there, though the kernel gives them up when
 * memory is needed: they are not counted here, or a model file that was just read would leave no
 * room for itself.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'

/** The text of a file, undefined if it cannot be read. */
export type ReadText = (path: string) => string | undefined

/** @returns Bytes. Elsewhere than on Linux all memory that the machine has. */
export function availableMemory(read: ReadText = readText): number {
  const available = /^MemAvailable:\s+(\d+) kB$/m.exec(read('/proc/meminfo') ?? '')?.[1]
  if (available === undefined) return totalmem()
  return Math.min(Number(available) * 1024, ...groupFolders(read).map((group) => left(group, read)))
}

/** What a version of control groups calls its files. */
interface Group {
  readonly folder: string
  readonly limit: string
  readonly used: string
  readonly filePages: RegExp
}

const version1 = {
  limit: 'memory.limit_in_bytes',
  used: 'memory.usage_in_bytes',
  filePages: /^total_(?:in)?active_file (\d+)$/gm,
}
const version2 = {
  limit: 'memory.max',
  used: 'memory.current',
  filePages: /^(?:in)?active_file (\d+)$/gm,
}

/** The root, which in a container is its own group, and the group that the process is in. */
function groupFolders(read: ReadText): Group[] {
  const lines = read('/proc/self/cgroup') ?? ''
  const path1 = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(lines)?.[1] ?? '/'
  const path2 = /^0::(.*)$/m.exec(lines)?.[1] ?? '/'
  return [
    ...['/', path1].map((path) => ({ ...version1, folder: join('/sys/fs/cgroup/memory', path) })),
    ...['/', path2].map((path) => ({ ...version2, folder: join('/sys/fs/cgroup', path) })),
  ]
}

/** Infinity without a limit. */
function left({ folder, limit, used, filePages }: Group, read: ReadText): number {
  // Version 2 says "max" where there is none, version 1 a number beyond all memory.
  const limitBytes = Number(read(join(folder, limit)) ?? NaN)
  const usedBytes = Number(read(join(folder, used)) ?? NaN)
  if (Number.isNaN(limitBytes) || Number.isNaN(usedBytes)) return Infinity
  const stat = read(join(folder, 'memory.stat')) ?? ''
  const fileBytes = [...stat.matchAll(filePages)].reduce((sum, [, bytes]) => sum + Number(bytes), 0)
  return Math.max(0, limitBytes - usedBytes + fileBytes)
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

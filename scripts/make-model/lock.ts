/**
 * One at a time, across processes: a lock file that holds its owner's process id.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 100

/** Runs `action` while no other process (nor another caller in this one) holds `path`. */
export async function withLock<T>(path: string, action: () => Promise<T>): Promise<T> {
  while (!take(path)) {
    if (isAbandoned(path)) rmSync(path, { force: true })
    else await sleep(POLL_MS)
  }
  try {
    return await action()
  } finally {
    rmSync(path, { force: true })
  }
}

function take(path: string): boolean {
  // A link appears with its content: a lock always has an owner.
  const own = `${path}-${randomUUID()}`
  writeFileSync(own, String(process.pid))
  try {
    linkSync(own, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(own, { force: true })
  }
}

/** Whether the owner has ended without removing the lock. */
function isAbandoned(path: string): boolean {
  try {
    process.kill(Number(readFileSync(path, 'utf8')), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

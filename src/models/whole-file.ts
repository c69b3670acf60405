/**
 * Writes files whole or not at all: readers see the old file meanwhile, and a full disk leaves no
 * half of a file.
 *
 * @module
 */

import { existsSync, statSync } from 'node:fs'
import { realpath, rename, rm, writeFile } from 'node:fs/promises'

/** @throws The system's error. @param path - Of a link, its target is written. */
export async function writeWholeFile(path: string, text: string): Promise<void> {
  if (existsSync(path) && !statSync(path).isFile()) {
    // A device or a pipe must be written to, and not be replaced by a file.
    await writeFile(path, text)
    return
  }
  const target = await realpath(path).catch(() => path)
  const unfinished = `${target}.${process.pid}.tmp`
  try {
    await writeFile(unfinished, text)
    await rename(unfinished, target)
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {})
    throw error
  }
}

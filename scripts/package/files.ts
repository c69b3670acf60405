/**
 * Files of a folder.
 *
 * @module
 */

import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Paths of all files under a folder, from it, in a fixed order. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}

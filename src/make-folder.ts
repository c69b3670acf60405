/**
 * Makes a folder that an operator has named, but not those above it: a parent that is missing is
 * misspelt, or of a disk that is not mounted.
 *
 * @module
 */

import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { OiError } from './errors.js'

/**
 * Makes a folder unless it is there, for its owner only.
 *
 * @throws {@link OiError} `ERR_CONFIG` naming the parent if that is missing; the file system's error.
 */
export function makeFolder(path: string): void {
  const parent = dirname(resolve(path))
  if (!existsSync(parent)) {
    throw new OiError('ERR_CONFIG', `There is no folder ${parent}: ${path} is not made`)
  }
  try {
    // Not recursive: where no folder can be made at all, as in /proc, that never ends.
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

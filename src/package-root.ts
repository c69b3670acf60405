/**
 * The folder of this package's `package.json`, also when it runs from `dist`; and its version.
 * Imports nothing of the project.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const packageRoot = find(dirname(fileURLToPath(import.meta.url)))

/** Read at once: an upgrade may replace the folder's files while this version runs. */
const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  readonly version: string
}

export function packageVersion(): string {
  return version
}

function find(from: string): string {
  let dir = from
  while (!existsSync(join(dir, 'package.json')) && dir !== dirname(dir)) dir = dirname(dir)
  return dir
}

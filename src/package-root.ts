/**
 * Where this package is: the folder of its `package.json`, also when it runs from `dist`.
 * Imports nothing of the project.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const packageRoot = find(dirname(fileURLToPath(import.meta.url)))

function find(from: string): string {
  let dir = from
  while (!existsSync(join(dir, 'package.json')) && dir !== dirname(dir)) dir = dirname(dir)
  return dir
}

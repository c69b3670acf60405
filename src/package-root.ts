/**
 * Where this package is: the folder of its `package.json`, also when it runs from `dist`; and its
 * version. Imports nothing of the project.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const packageRoot = find(dirname(fileURLToPath(import.meta.url)))

export function packageVersion(): string {
  const file = join(packageRoot, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

function find(from: string): string {
  let dir = from
  while (!existsSync(join(dir, 'package.json')) && dir !== dirname(dir)) dir = dirname(dir)
  return dir
}

/**
 * Files of a folder, and files that the main package copies unchanged.
 *
 * @module
 */

import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from '../build/paths.js'

/** Files and folders that the main package copies unchanged. */
export const copied = [
  ...['src/models/weights/oi-small.gguf', 'src/models/weights/oi-small.LICENSE.txt'],
  ...['native', 'CMakeLists.txt'],
  ...['README.md', 'CHANGELOG.md', 'LICENSE'],
]

/**
 * The guides of the main package, with their images and the files that operators copy: the README's
 * links lead to them. Sorted, from the root.
 */
export function guideFiles(): string[] {
  return ['src', 'scripts']
    .flatMap((folder) => filesIn(join(root, folder)).map((name) => `${folder}/${name}`))
    .filter((path) => guide.test(path) && !path.startsWith('scripts/train/'))
}

const guide =
  /\.(?:md|ipynb)$|^src\/console\/pictures\/|^scripts\/bench\/results\/scaling-amd.*\.svg$|^scripts\/deploy\/.*(?<!\.ts)$/

/** Paths of all files in a folder, relative to it, in a fixed order. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}

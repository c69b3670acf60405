/**
 * Files of a folder, and those that the main package takes from this one as they are.
 *
 * @module
 */

import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from '../build/paths.js'

/** Files and folders of the main package that are copied as they are. */
export const copied = [
  ...['src/models/oi-small.gguf', 'native', 'CMakeLists.txt'],
  ...['README.md', 'CHANGELOG.md', 'LICENSE'],
]

/**
 * The guides of the main package, with what they show and what operators copy: the README leads to
 * them. Sorted, from the root.
 */
export function guideFiles(): string[] {
  return ['src', 'scripts']
    .flatMap((folder) => filesIn(join(root, folder)).map((name) => `${folder}/${name}`))
    .filter((path) => guide.test(path) && !path.startsWith('scripts/train/'))
}

const guide =
  /\.md$|^src\/console\/pictures\/|^scripts\/bench\/results\/scaling-amd.*\.svg$|^scripts\/deploy\/.*(?<!\.ts)$/

/** Paths of all files under a folder, from it, in a fixed order. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}

/**
 * ggml's private headers, as far as our CPU kernels use them.
 *
 * Another version of llama.cpp may change them at any time. The kernels are compiled only if the
 * headers are those of the pin: comparing commits would not do, because most do not touch them.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from './paths.js'
import { pinnedHeaders } from './pin.js'

const ours = join(root, 'native/kernels/ggml')

/**
 * @returns By path in the tree, the first half of the SHA-256 of each private header that
 *   `native/kernels/ggml` includes, and of those that these include, where they are there.
 */
export function privateHeaders(tree: string): Map<string, string> {
  const found = new Map<string, string>()
  const isPublic = (name: string) => existsSync(join(tree, 'ggml/include', name))
  const folders = ['ggml/src', 'ggml/src/ggml-cpu'].map((folder) => join(tree, folder))
  const visit = (name: string, from: readonly string[]) => {
    const path = from.map((folder) => join(folder, name)).find((path) => existsSync(path))
    // Headers of other systems or backends are in none of these folders.
    if (path === undefined) return
    const known = relative(tree, path)
    if (found.has(known)) return
    const text = readFileSync(path)
    found.set(known, createHash('sha256').update(text).digest('hex').slice(0, 32))
    for (const include of includesOf(text.toString())) {
      if (!isPublic(include)) visit(include, [dirname(path), ...folders])
    }
  }
  for (const file of readdirSync(ours)) {
    for (const name of includesOf(readFileSync(join(ours, file), 'utf8'))) {
      if (!existsSync(join(ours, name)) && !isPublic(name)) visit(name, folders)
    }
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Paths of a tree's headers that differ from the pin. */
export function changedHeaders(tree: string): string[] {
  const found = privateHeaders(tree)
  const paths = new Set([...found.keys(), ...Object.keys(pinnedHeaders)])
  return [...paths].filter((path) => found.get(path) !== pinnedHeaders[path]).sort()
}

function includesOf(text: string): string[] {
  return [...text.matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)]
    .map(([, name]) => name!)
    .filter((name) => !name.startsWith('../'))
}

/**
 * The result of `require()`: the same module, and its types as CommonJS.
 *
 * Node's `require()` takes ES modules, so there is one copy of the code and of its classes. The
 * types are copied instead: TypeScript does not let a CommonJS file of `node16` name a declaration
 * file of an ES module.
 *
 * @module
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { filesIn } from './files.js'

/**
 * Completes compiled sources: `.cjs` and `.d.cts` for each entry, and only the declarations that an
 * entry needs.
 *
 * @param dist - The folder of the compiled sources.
 * @param entries - Modules in it, as `index`.
 */
export function completeTypes(dist: string, entries: readonly string[]): void {
  const needed = new Set<string>()
  for (const entry of entries) collect(join(dist, `${entry}.d.ts`), needed)
  for (const path of filesIn(dist).map((name) => join(dist, name))) {
    if (path.endsWith('.d.ts') && !needed.has(path)) rmSync(path)
  }
  for (const path of needed) {
    const text = readFileSync(path, 'utf8').replace(specifiers, "$1'$2.cjs'")
    writeFileSync(path.replace(/\.d\.ts$/, '.d.cts'), text)
  }
  for (const entry of entries) {
    const text = `'use strict'\nmodule.exports = require('./${basename(entry)}.js')\n`
    writeFileSync(join(dist, `${entry}.cjs`), text)
  }
}

const specifiers = /(\bfrom\s+|\bimport\()'(\.[^']+)\.js'/g

function collect(path: string, found: Set<string>): void {
  if (found.has(path)) return
  found.add(path)
  for (const [, , specifier] of readFileSync(path, 'utf8').matchAll(specifiers)) {
    collect(join(dirname(path), `${specifier!}.d.ts`), found)
  }
}

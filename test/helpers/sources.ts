/** The project's own source files, and what they import. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'

export interface Source {
  /** The path from the root, with forward slashes. */
  readonly path: string
  readonly text: string
}

export interface Import {
  /** The path of the importing file. */
  readonly path: string
  readonly specifier: string
  readonly typesOnly: boolean
}

export function sourcesIn(folder: string, ending: RegExp): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: path.slice(root.length + 1).replaceAll('\\', '/'),
      text: readFileSync(path, 'utf8'),
    }))
}

export function importsOf({ path, text }: Source): Import[] {
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?[^'";]*?\bfrom\s+'([^']+)'/gm)
  const others = text.matchAll(/\bimport\s*\(?\s*()'([^']+)'/g)
  return [...statements, ...others].map(([, type, specifier]) => ({
    path,
    specifier: specifier!,
    typesOnly: Boolean(type),
  }))
}

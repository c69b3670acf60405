/**
 * Lists of the packages' components (CycloneDX), by `npm sbom`.
 *
 * npm lists the content of a lock file, and this project has only one. The server's package gets a
 * lock file that is derived from it: the versions are the tested ones.
 *
 * @module
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mainManifest, platformManifest, serverManifest, systems } from '../package/manifests.js'

/** A package of a lock file. */
interface Locked {
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly dev?: boolean | undefined
  readonly devOptional?: boolean | undefined
}

export interface Lock {
  readonly version: string
  readonly lockfileVersion: number
  /** By place, as `node_modules/a/node_modules/b`; '' is the project. */
  readonly packages: Readonly<Record<string, Locked>>
}

/** The lock file of a project for the server's package. @param lock - This project's. */
export function lockOfServer(lock: Lock): Lock {
  const own = [mainManifest(systems), ...systems.map(platformManifest)]
  const all: Record<string, Locked> = {
    ...lock.packages,
    ...Object.fromEntries(
      own.map((manifest) => [`node_modules/${String(manifest['name'])}`, manifest]),
    ),
    '': serverManifest(),
  }
  const kept = new Map<string, Locked>()
  const places = ['']
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    if (kept.has(place)) continue
    // Development dependencies can be part of the server.
    const locked = { ...all[place]!, dev: undefined, devOptional: undefined }
    kept.set(place, locked)
    const { dependencies, optionalDependencies, peerDependencies } = locked
    const wanted = { ...dependencies, ...optionalDependencies, ...peerDependencies }
    for (const name of Object.keys(wanted)) {
      const found = placeOf(name, place, all)
      if (found !== undefined) places.push(found)
    }
  }
  const packages = Object.fromEntries([...kept].sort(([a], [b]) => (a < b ? -1 : 1)))
  return { ...lock, packages }
}

/** Where Node finds a package from another one's place; undefined if it is optional and missing. */
function placeOf(
  name: string,
  from: string,
  all: Readonly<Record<string, Locked>>,
): string | undefined {
  const place = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`
  if (place in all) return place
  if (from === '') return undefined
  return placeOf(name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), all)
}

/**
 * @param output - Runs a program in a folder, and returns its output.
 * @returns The text of each list, by the name of its package.
 */
export function billsOf(
  root: string,
  lock: Lock,
  output: (command: string, args: readonly string[], folder: string) => string,
): { readonly main: string; readonly server: string } {
  const list = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx']
  const folder = mkdtempSync(join(tmpdir(), 'oi-sbom-'))
  try {
    const write = (name: string, value: unknown) =>
      writeFileSync(join(folder, name), JSON.stringify(value))
    write('package.json', serverManifest())
    write('package-lock.json', { ...lockOfServer(lock), name: serverManifest()['name'] })
    const bill = (name: unknown, at: string) => named(String(name), output('npm', list, at))
    return {
      main: bill(mainManifest(systems)['name'], root),
      server: bill(serverManifest()['name'], folder),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** npm names a project by its folder. */
function named(name: string, text: string): string {
  const bill = JSON.parse(text) as { metadata: { component: { name: string } } }
  bill.metadata.component.name = name
  return `${JSON.stringify(bill, undefined, 2)}\n`
}

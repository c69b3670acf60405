/**
 * The `package.json` of the three packages, made from the project's own.
 *
 * | Package                | For                                                              |
 * |------------------------|------------------------------------------------------------------|
 * | oi-systemone           | applications: the library, the client, the command               |
 * | @oi-systemone/<system> | both: the addon, compiled for every processor of that system     |
 * | @oi-systemone/server   | who serves: brings oi-systemone and what `oi serve` needs beside |
 *
 * npm installs `optionalDependencies` unless they do not fit the machine, and never an optional
 * peer by itself. So the addon is an optional dependency: nothing else chooses a package by the
 * system. And the server's packages, 270 MB, are optional peers: an application that embeds a model
 * does not pay for them. `@oi-systemone/server` has them as ordinary dependencies beside
 * `oi-systemone`, and thereby provides the peers in every package manager, also in those that show
 * a package only its own dependencies.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'

export type Manifest = Readonly<Record<string, unknown>>

type Packages = Readonly<Record<string, string>>

interface ProjectManifest extends Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly engines: Packages
  readonly peerDependenciesMeta: Readonly<Record<string, unknown>>
  readonly devDependencies: Packages
  readonly peerDependencies: Packages
}

/** The fields of a package, in this order; others are the project's own. */
const published = [
  ...['name', 'version', 'description', 'keywords', 'license', 'type', 'engines', 'bin'],
  ...['main', 'types', 'typesVersions', 'exports', 'files'],
  // The last is for cmake-js: the Node-API for which it compiles.
  ...['dependencies', 'peerDependencies', 'peerDependenciesMeta', 'binary'],
]

export const project = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as ProjectManifest

/** Systems with a package of the addon, in npm's names. */
export interface System {
  readonly os: string
  readonly cpu: string
  /** Of Linux. */
  readonly libc?: string
}

export const systems: readonly System[] = [
  { os: 'linux', cpu: 'x64', libc: 'glibc' },
  { os: 'linux', cpu: 'arm64', libc: 'glibc' },
]

export const systemName = ({ os, cpu }: System) => `${os}-${cpu}`

export const platformName = (system: System) => `@oi-systemone/${systemName(system)}`

const sqlite = 'better-sqlite3'

export const serverName = '@oi-systemone/server'

/** @param packed - The systems whose packages are published with it. */
export function mainManifest(packed: readonly System[]): Manifest {
  const { version } = project
  return {
    ...Object.fromEntries(published.map((key) => [key, project[key]])),
    optionalDependencies: Object.fromEntries(
      packed.map((system) => [platformName(system), version]),
    ),
  }
}

export function platformManifest(system: System): Manifest {
  const { version, license, engines } = project
  return {
    name: platformName(system),
    version,
    description: `The native addon of oi-systemone for ${system.os}-${system.cpu}`,
    license,
    engines,
    os: [system.os],
    cpu: [system.cpu],
    ...(system.libc !== undefined && { libc: [system.libc] }),
    main: 'oi.node',
    files: ['oi.node', 'processor.node', 'licences'],
  }
}

/**
 * The server's packages are the project's optional peers, in the tested versions; better-sqlite3
 * has one version for Node 20 and one for the others.
 */
export function serverManifest(): Manifest {
  const { name, version, license, engines, peerDependenciesMeta } = project
  const { devDependencies, peerDependencies } = project
  const parts = Object.keys(peerDependenciesMeta).map((part) => [part, devDependencies[part]])
  return {
    name: serverName,
    version,
    description: 'The decision server oi: oi-systemone with all that serving needs',
    license,
    type: 'module',
    engines,
    bin: { oi: 'oi.js' },
    files: ['oi.js'],
    dependencies: {
      [name]: version,
      ...Object.fromEntries(parts),
      [sqlite]: peerDependencies[sqlite],
    },
  }
}

/**
 * The three packages' `package.json`, made from the project's own.
 *
 * | Package                | For                                                              |
 * |------------------------|------------------------------------------------------------------|
 * | oi-systemone           | applications: the library, the client, the command               |
 * | @oi-systemone/<system> | both: the addon, compiled for every processor of that system     |
 * | @oi-systemone/server   | who serves: brings oi-systemone and what `oi serve` needs beside |
 *
 * npm installs what is in `optionalDependencies` unless it does not fit the machine, and an
 * optional peer never by itself. So the addon is the former: nothing else chooses a package by the
 * system. And the server's packages are the latter, 270 MB: an application that embeds a model pays
 * for none of it. `@oi-systemone/server` has them as ordinary dependencies beside `oi-systemone`, and thereby gives the peers to it, in every package
 * manager, also in those which show a package nothing that it has not asked for.
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

/** What a package has to say, in this order; the rest is the project's own business. */
const published = [
  ...['name', 'version', 'description', 'keywords', 'license', 'type', 'engines', 'bin'],
  ...['main', 'types', 'typesVersions', 'exports', 'files'],
  // The last for cmake-js: which Node-API it compiles for, by headers that it brings.
  ...['dependencies', 'peerDependencies', 'peerDependenciesMeta', 'binary'],
]

export const project = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as ProjectManifest

/** Systems that have a package with the addon, as npm names them. */
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
 * The server's packages are the project's optional peers, in the versions that it is tested with; of
 * better-sqlite3 there is one for Node 20 and one for the others.
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

/**
 * Makes the tarballs of all packages.
 *
 * @module
 */

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { run } from '../build/run.js'
import { llamaTree } from '../build/vendor.js'
import { platformName, project, serverName, type System, systemName, systems } from './manifests.js'
import { stageMain, stagePlatform, stageServer } from './stage.js'

/** Paths of tarballs. */
export interface Tarballs {
  readonly main: string
  readonly platform: string
  readonly server: string
}

/** Paths of this version's tarballs, in npm's names; by default with this system's addon. */
export function tarballsIn(folder: string, system?: System): Tarballs {
  const path = (part: string) => join(folder, `oi-systemone-${part}${project.version}.tgz`)
  const name = systemName(system ?? { os: process.platform, cpu: process.arch })
  return { main: path(''), platform: path(`${name}-`), server: path('server-') }
}

/**
 * npm's overrides for unpublished packages: the tarball of the main package, and those of all
 * packed systems, by name.
 */
export function packagesFromFiles(folder: string): Readonly<Record<string, string>> {
  const packed = systems.map(
    (system) => [platformName(system), tarballsIn(folder, system).platform] as const,
  )
  return Object.fromEntries(
    [[project.name, tarballsIn(folder).main] as const, ...packed]
      .filter(([, path]) => existsSync(path))
      .map(([name, path]) => [name, `file:${path}`]),
  )
}

/** The system of this machine, if it has a package. */
export function thisSystem(): System | undefined {
  return systems.find(({ os, cpu }) => os === process.platform && cpu === process.arch)
}

export const packagesDir = join(root, 'build', 'packages')

/** A compiled addon for a system. */
export interface Build {
  readonly system: System
  readonly addonDir: string
}

/**
 * @param builds - Each gets its package, and `oi-systemone` names exactly these.
 * @param out - The folder of the tarballs; emptied first. Their folders stay in `staged`.
 * @throws {@link BuildError} if a step fails.
 */
export async function makePackages(builds: readonly Build[], out: string): Promise<void> {
  const staged = join(out, 'staged')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const { dir } = await llamaTree()
  const folders = [project.name, serverName].map((name) => join(staged, name))
  await stageMain(
    folders[0]!,
    builds.map(({ system }) => system),
  )
  stageServer(folders[1]!)
  for (const { system, addonDir } of builds) {
    const folder = join(staged, platformName(system))
    stagePlatform(folder, system, addonDir, dir)
    folders.push(folder)
  }
  for (const folder of folders) {
    await run('npm', ['pack', '--silent', '--pack-destination', out], { cwd: folder, quiet: true })
  }
}

/**
 * Makes the tarballs of all packages.
 *
 * @module
 */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { BuildError, run } from '../build/run.js'
import { llamaTree } from '../build/vendor.js'
import { platformName, project, type System, systems } from './manifests.js'
import { stageMain, stagePlatform, stageServer } from './stage.js'

/** Paths of tarballs. */
export interface Tarballs {
  readonly main: string
  readonly platform: string
  readonly server: string
}

/** Where the tarballs of this version and system are, as npm names them. */
export function tarballsIn(folder: string): Tarballs {
  const path = (part: string) => join(folder, `oi-systemone-${part}${project.version}.tgz`)
  return {
    main: path(''),
    platform: path(`${process.platform}-${process.arch}-`),
    server: path('server-'),
  }
}

/** The system of this machine, if there is a package for it. */
export function thisSystem(): System | undefined {
  return systems.find(({ os, cpu }) => os === process.platform && cpu === process.arch)
}

export const packagesDir = join(root, 'build', 'packages')

/**
 * @param addon - The addon for the package of this system.
 * @param out - Gets the tarballs; emptied first. The folders that they are made of stay in `staged`.
 * @throws {@link BuildError} if there is no package for this system, or a step fails.
 */
export async function makePackages(addon: string, out: string): Promise<Tarballs> {
  const system = thisSystem()
  if (system === undefined) {
    throw new BuildError(`There is no package for ${process.platform}-${process.arch}`)
  }
  const staged = join(out, 'staged')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const names = { main: project.name, platform: platformName(system) }
  const folders = {
    main: join(staged, names.main),
    platform: join(staged, names.platform),
    server: join(staged, '@oi-systemone', 'server'),
  }
  const { dir } = await llamaTree()
  await stageMain(folders.main)
  stagePlatform(folders.platform, system, addon, dir)
  stageServer(folders.server)
  for (const folder of Object.values(folders)) {
    await run('npm', ['pack', '--silent', '--pack-destination', out], { cwd: folder, quiet: true })
  }
  return tarballsIn(out)
}

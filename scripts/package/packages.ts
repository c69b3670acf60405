/**
 * Makes the tarballs of all packages.
 *
 * @module
 */

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
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
  return {
    main: await pack(folders.main, out),
    platform: await pack(folders.platform, out),
    server: await pack(folders.server, out),
  }
}

async function pack(folder: string, out: string): Promise<string> {
  const before = new Set(readdirSync(out))
  await run('npm', ['pack', '--silent', '--pack-destination', out], { cwd: folder, quiet: true })
  const made = readdirSync(out).find((name) => !before.has(name))
  if (made === undefined) throw new BuildError(`npm pack left no tarball of ${folder}`)
  return join(out, made)
}

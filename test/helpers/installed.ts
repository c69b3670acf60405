/**
 * Shared by the tests of installed packages: projects that depend on the packed packages, and the
 * outcome of a program in them.
 *
 * @module
 */

import type { Test } from 'tap'
import { project as own } from '../../scripts/package/manifests.js'
import { packagesDir, packagesFromFiles, tarballsIn } from '../../scripts/package/packages.js'
import { answer, type Outcome, programs, Project } from './packed.js'

export const skip = process.env['OI_TEST_PACKAGES'] ? false : 'run by npm run test:packages'

export const tarballs = tarballsIn(packagesDir)
export const local = packagesFromFiles(packagesDir)

/** The registry has none of these packages, so each manager gets their paths. */
export const fromFiles = { overrides: local, pnpm: { overrides: local } }

/** How npm installs in nearly all projects. */
export const npmInstall = [
  ...['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'],
]

/** A project that depends on `oi-systemone`, and programs that use it. */
export function newProject(t: Test, dependencies: Readonly<Record<string, string>> = {}): Project {
  const all = { [own.name]: local[own.name], ...dependencies }
  const project = new Project(t, { ...fromFiles, dependencies: all })
  project.write('app.mjs', programs.esm)
  project.write('app.cjs', programs.commonJs)
  project.write('worker.mjs', programs.worker)
  return project
}

export async function answers(t: Test, outcome: Promise<Outcome>, name: string): Promise<void> {
  const { stdout, output } = await outcome
  t.match(stdout, answer, name, { output })
}

/** @returns The program's output. */
export async function succeeds(t: Test, outcome: Promise<Outcome>, name: string): Promise<string> {
  const { status, output } = await outcome
  t.equal(status, 0, name, { output })
  return output
}

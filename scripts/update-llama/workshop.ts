/**
 * A copy of this checkout in which another llama.cpp is the pinned one.
 *
 * Its relative paths are those of this checkout, so that ccache finds compiled files.
 *
 * @module
 */

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { root } from '../build/paths.js'
import { type Pin, pin, pinnedHeaders } from '../build/pin.js'
import { privateHeaders } from '../build/private-headers.js'
import { BuildError, BuildStopped, probe, run } from '../build/run.js'
import { commitOf, fetchBundle } from '../build/vendor.js'

export const workshopDir = join(root, 'build/update-llama')
const treeDir = join(workshopDir, 'vendor/llama.cpp')
const repository = 'https://github.com/ggml-org/llama.cpp'

/** The source under test. */
export interface Tree {
  /** As requested. */
  readonly source: string
  readonly dir: string
  readonly commit: string
  /** Whether our CPU kernels are built although private headers have changed. */
  readonly acceptsHeaders: boolean
  /** Whether its files differ from those of the commit. */
  readonly isChanged: boolean
  /** The npm package, with its actual integrity. */
  readonly package?: string
  readonly integrity?: string
}

/** @throws {@link BuildError} if the tree cannot be fetched. */
export async function makeWorkshop(source: string, acceptsHeaders: boolean): Promise<Tree> {
  if ([treeDir, workshopDir].includes(resolve(source))) {
    throw new BuildError(`${source} is the folder of the trial: name another folder`)
  }
  const tree = { ...(await takeTree(source)), acceptsHeaders }
  for (const name of readdirSync(workshopDir)) {
    // No compiled files: ninja compares times, which mean nothing between two trees. ccache finds
    // unchanged files.
    if (['models', 'vendor'].includes(name)) continue
    rmSync(join(workshopDir, name), { recursive: true })
  }
  for (const name of [
    'CMakeLists.txt',
    'native',
    'src',
    'test',
    'package.json',
    '.npmrc',
    'dist',
  ]) {
    if (existsSync(join(root, name))) {
      cpSync(join(root, name), join(workshopDir, name), { recursive: true })
    }
  }
  symlinkSync(join(root, 'node_modules'), join(workshopDir, 'node_modules'))
  const trial: Pin = {
    commit: tree.commit,
    package: tree.package ?? pin.package,
    integrity: tree.integrity ?? pin.integrity,
    onTrial: tree.commit !== pin.commit,
  }
  const known = acceptsHeaders ? Object.fromEntries(privateHeaders(tree.dir)) : pinnedHeaders
  const path = join(workshopDir, 'dist/scripts/build/pin.js')
  cpSync(path, join(dirname(path), 'own-pin.js'))
  writeFileSync(
    path,
    `export { bundleMember } from './own-pin.js'\n` +
      `export const pin = ${JSON.stringify(trial)}\n` +
      `export const pinnedHeaders = ${JSON.stringify(known)}\n`,
  )
  return tree
}

async function takeTree(source: string): Promise<Omit<Tree, 'acceptsHeaders'>> {
  const dir = treeDir
  mkdirSync(dirname(dir), { recursive: true })
  if (existsSync(source)) return { source, dir, ...copyTree(resolve(source), dir) }
  if (source.startsWith('node-llama-cpp@')) {
    const fetched = await fetchBundle(source, dir)
    return { source, dir, isChanged: false, package: source, ...fetched }
  }
  const next = mkdtempSync(join(dirname(dir), '.tmp-'))
  try {
    const quietly = ['-c', 'advice.detachedHead=false', 'clone', '--quiet', '--depth', '1']
    await run('git', [...quietly, '--branch', source, repository, next])
    rmSync(dir, { recursive: true, force: true })
    renameSync(next, dir)
  } catch (error) {
    if (!(error instanceof BuildError) || error instanceof BuildStopped) throw error
    throw new BuildError(`${source}: no folder, and no branch or tag to be had of ${repository}`)
  } finally {
    rmSync(next, { recursive: true, force: true })
  }
  return { source, dir, isChanged: false, commit: commitOf(dir)! }
}

/** Copies a checkout, which may be a submodule or another working tree of a repository. */
export function copyTree(from: string, to: string): { commit: string; isChanged: boolean } {
  if (!existsSync(join(from, 'include/llama.h'))) {
    throw new BuildError(`${from} does not hold a llama.cpp source tree`)
  }
  const commit = commitOf(from)
  if (commit === undefined) throw new BuildError(`${from} is not a git checkout`)
  rmSync(to, { recursive: true, force: true })
  const built = join(from, 'build')
  cpSync(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => path !== built,
  })
  // There it is a file, with a path from where it was.
  if (statSync(join(from, '.git')).isFile()) {
    const repository = probe('git', ['-C', from, 'rev-parse', '--absolute-git-dir'])
    writeFileSync(join(to, '.git'), `gitdir: ${repository}\n`)
  }
  const changes = ['--no-optional-locks', '-C', from, 'status', '--porcelain']
  return { commit, isChanged: Boolean(probe('git', [...changes, '--untracked-files=no'])) }
}

/**
 * Brings llama.cpp's source tree: a pinned npm tarball carries it as a git bundle.
 *
 * Nothing of llama.cpp is committed. The tarball is checked against its pinned hash, the bundle
 * against its pinned commit, and the tree is moved into place only when it is whole: an interrupted
 * run leaves nothing that a later run would trust.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { root } from './paths.js'
import { bundleMember, pin } from './pin.js'
import { BuildError, probe, run } from './run.js'

export interface LlamaTree {
  readonly dir: string
  readonly commit: string
  /** False for a user's own checkout: its sources may change at any time. */
  readonly pinned: boolean
}

const vendorDir = join(root, 'vendor')
const treeDir = join(vendorDir, 'llama.cpp')

/**
 * The llama.cpp tree to build against; fetches it first if necessary.
 *
 * @throws {@link BuildError} if `LLAMA_CPP_DIR` is not a llama.cpp tree, or the tarball cannot be
 *   fetched, or its hash or commit differs from the pin.
 */
export async function llamaTree(): Promise<LlamaTree> {
  const own = process.env['LLAMA_CPP_DIR']
  if (own) {
    const dir = resolve(own)
    if (!existsSync(join(dir, 'include/llama.h'))) {
      throw new BuildError(`LLAMA_CPP_DIR=${own} does not hold a llama.cpp source tree`)
    }
    const commit = commitOf(dir) ?? 'unknown'
    return { dir, commit, pinned: false }
  }
  if (!isWhole()) {
    mkdirSync(vendorDir, { recursive: true })
    for (const name of readdirSync(vendorDir)) {
      if (name.startsWith('.tmp-')) rmSync(join(vendorDir, name), { recursive: true, force: true })
    }
    await fetchBundle(pin.package, treeDir, pin)
  }
  return { dir: treeDir, commit: pin.commit, pinned: true }
}

function isWhole(): boolean {
  return existsSync(join(treeDir, 'include/llama.h')) && commitOf(treeDir) === pin.commit
}

/** The commit of a checkout; undefined for other folders, also inside of a checkout. */
export function commitOf(dir: string): string | undefined {
  if (!existsSync(join(dir, '.git'))) return undefined
  return probe('git', ['-C', dir, 'rev-parse', 'HEAD'])
}

/**
 * Puts the repository in an npm package into a folder, in place of its content.
 *
 * @param name - As `node-llama-cpp@3.22.1`.
 * @param expected - Required integrity and commit; by default any.
 * @throws {@link BuildError}
 */
export async function fetchBundle(
  name: string,
  dir: string,
  expected?: { readonly integrity: string; readonly commit: string },
): Promise<{ commit: string; integrity: string }> {
  const tmp = mkdtempSync(join(dirname(dir), '.tmp-'))
  try {
    console.log(`llama.cpp: taking its source from ${name} (34 MB)`)
    const pack = ['pack', name, '--loglevel', 'error', '--pack-destination', tmp]
    await run('npm', pack, { cwd: tmp, quiet: true })
    const tarball = readdirSync(tmp).find((name) => name.endsWith('.tgz'))
    if (!tarball) throw new BuildError(`npm pack ${name} left no tarball`)
    const path = join(tmp, tarball)
    const integrity = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`
    if (expected && integrity !== expected.integrity) {
      throw new BuildError(
        `${name} is not what was pinned: got ${integrity}, expected ${expected.integrity}`,
      )
    }
    await run('tar', ['-xzf', path, '-C', tmp, bundleMember])
    const checkout = join(tmp, 'tree')
    const quietly = ['-c', 'advice.detachedHead=false', 'clone', '--quiet']
    await run('git', [...quietly, join(tmp, bundleMember), checkout])
    const commit = commitOf(checkout) ?? 'none'
    if (expected && commit !== expected.commit) {
      throw new BuildError(`The bundle holds commit ${commit}, expected ${expected.commit}`)
    }
    rmSync(dir, { recursive: true, force: true })
    renameSync(checkout, dir)
    return { commit, integrity }
  } finally {
    rmSync(tmp, { recursive: true, force: true })
  }
}

/**
 * Brings llama.cpp's source tree: a pinned npm tarball carries it as a git bundle.
 *
 * Nothing of llama.cpp is committed. The tarball is checked against its pinned hash,
 * the bundle against its pinned commit, and the tree is moved into place only when it
 * is whole: an interrupted run leaves nothing that a later one would trust.
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
import { join, resolve } from 'node:path'
import { root } from './paths.js'
import { BuildError, probe, run } from './run.js'

/** The one place where llama.cpp's version is pinned. */
const PIN = {
  version: 'v0.5.0',
  commit: 'de3ff815ea7d559ee917f063901b8986f038abc6',
  package: 'node-llama-cpp@3.22.1',
  integrity:
    'sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==',
  member: 'package/llama/gitRelease.bundle',
} as const

export interface LlamaTree {
  readonly dir: string
  readonly commit: string
  /** False for a checkout of the user's own: its sources may change under us. */
  readonly pinned: boolean
}

const vendorDir = join(root, 'vendor')
const treeDir = join(vendorDir, 'llama.cpp')

/**
 * The llama.cpp tree to build against, fetched first where it is not there yet.
 *
 * @throws {@link BuildError} if `LLAMA_CPP_DIR` is no llama.cpp tree, the tarball cannot
 *   be had, or its hash or commit differs from the pin.
 */
export async function llamaTree(): Promise<LlamaTree> {
  const own = process.env['LLAMA_CPP_DIR']
  if (own) {
    const dir = resolve(own)
    if (!existsSync(join(dir, 'include/llama.h'))) {
      throw new BuildError(`LLAMA_CPP_DIR=${own} does not hold a llama.cpp source tree`)
    }
    const commit = probe('git', ['-C', dir, 'rev-parse', 'HEAD']) ?? 'unknown'
    return { dir, commit, pinned: false }
  }
  if (!isWhole()) await fetchTree()
  return { dir: treeDir, commit: PIN.commit, pinned: true }
}

function isWhole(): boolean {
  return (
    existsSync(join(treeDir, 'include/llama.h')) &&
    probe('git', ['-C', treeDir, 'rev-parse', 'HEAD']) === PIN.commit
  )
}

async function fetchTree(): Promise<void> {
  mkdirSync(vendorDir, { recursive: true })
  for (const name of readdirSync(vendorDir)) {
    if (name.startsWith('.tmp-')) rmSync(join(vendorDir, name), { recursive: true, force: true })
  }
  const tmp = mkdtempSync(join(vendorDir, '.tmp-'))
  try {
    console.log(`llama.cpp ${PIN.version}: taking its source from ${PIN.package} (34 MB)`)
    await run('npm', ['pack', PIN.package, '--silent', '--pack-destination', tmp], {
      cwd: tmp,
      quiet: true,
    })
    const tarball = readdirSync(tmp).find((name) => name.endsWith('.tgz'))
    if (!tarball) throw new BuildError(`npm pack ${PIN.package} left no tarball`)
    const path = join(tmp, tarball)
    const integrity = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`
    if (integrity !== PIN.integrity) {
      throw new BuildError(
        `${PIN.package} is not what was pinned: got ${integrity}, expected ${PIN.integrity}`,
      )
    }
    await run('tar', ['-xzf', path, '-C', tmp, PIN.member])
    const checkout = join(tmp, 'tree')
    await run('git', [
      '-c',
      'advice.detachedHead=false',
      'clone',
      '--quiet',
      join(tmp, PIN.member),
      checkout,
    ])
    const commit = probe('git', ['-C', checkout, 'rev-parse', 'HEAD'])
    if (commit !== PIN.commit) {
      throw new BuildError(`The bundle holds commit ${commit}, expected ${PIN.commit}`)
    }
    rmSync(treeDir, { recursive: true, force: true })
    renameSync(checkout, treeDir)
  } finally {
    rmSync(tmp, { recursive: true, force: true })
  }
}

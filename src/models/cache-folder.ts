/**
 * The folder of a model's cached states on disk.
 *
 * A state is valid only for the weights, the projector, the llama.cpp build, the kernels and the
 * type of KV cells that made it: the folder's name depends on all of them, so that no other model
 * reads it by mistake.
 *
 * @module
 */

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { OiError } from '../errors.js'
import { makeFolder } from '../make-folder.js'

interface CacheOwner {
  /** `sha256:` and 64 hex digits of the weights file. */
  readonly digest: string
  /** The same of the projector file, where there is one. */
  readonly projectorDigest?: string | undefined
  /** The llama.cpp commit of this build. */
  readonly llamaCommit: string
  readonly cacheType: string
  readonly flashAttention: string
  readonly kernels: string
}

/** The folder of an owner inside `dir`. */
export function cacheFolder(dir: string, owner: CacheOwner): string {
  const { digest, projectorDigest, llamaCommit, cacheType, flashAttention, kernels } = owner
  const files = [digest, ...(projectorDigest === undefined ? [] : [projectorDigest])]
  const weights = files.map((file) => file.replace(/^sha256:/, '').slice(0, 16))
  const build = llamaCommit.slice(0, 8)
  return join(dir, [...weights, build, cacheType, flashAttention, kernels].join('-'))
}

/**
 * Makes the owner's folder, readable by its user alone: a state reveals what was asked. The engine
 * refuses one that others may enter (native/engine/cache/state_folder.h).
 *
 * @returns Its path.
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` if it cannot be made, or others could put another
 *   one in its place: `dir` is another user's, a link, or open to be written to.
 */
export function makeCacheFolder(dir: string, owner: CacheOwner): string {
  const folder = cacheFolder(dir, owner)
  requireOwn(dir)
  try {
    makeFolder(dir)
    makeFolder(folder)
  } catch (cause) {
    const { message } = cause as Error
    throw new OiError('ERR_INVALID_ARGUMENT', `diskCacheDir: ${message}`, { cause })
  }
  return folder
}

/** Nothing is required of a folder that is not there yet. */
function requireOwn(dir: string): void {
  const facts = lstatSync(dir, { throwIfNoEntry: false })
  if (facts === undefined || process.getuid === undefined) return
  const fault = !facts.isDirectory()
    ? 'expected a folder, and no link to one'
    : facts.uid !== process.getuid()
      ? `it belongs to another user (${facts.uid})`
      : (facts.mode & 0o022) !== 0
        ? `others may write to it (mode ${(facts.mode & 0o7777).toString(8)})`
        : undefined
  if (fault === undefined) return
  const remedy = 'name a folder in it that is not there yet'
  const hint = facts.isDirectory() ? `: ${remedy}` : ''
  throw new OiError('ERR_INVALID_ARGUMENT', `diskCacheDir: ${dir}: ${fault}${hint}`)
}

/**
 * The folder of a model's cached states on disk.
 *
 * A state is valid only for the weights, the projector, the llama.cpp build, the kernels and the
 * type of KV cells that made it: the folder's name depends on all of them, so that no other model
 * reads it by mistake.
 *
 * @module
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { OiError } from '../errors.js'

export interface CacheOwner {
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
 * Makes the owner's folder, readable by its user alone: a state reveals what was asked.
 *
 * @returns Its path.
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` if it cannot be made.
 */
export function makeCacheFolder(dir: string, owner: CacheOwner): string {
  const folder = cacheFolder(dir, owner)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const { message } = cause as Error
    throw new OiError('ERR_INVALID_ARGUMENT', `diskCacheDir: ${message}`, { cause })
  }
  return folder
}

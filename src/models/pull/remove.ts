/**
 * Removes a pulled model and the remains of an unfinished pull of it.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OiError } from '../../errors.js'
import { bytesIn, listPulled, unfinishedFolder } from '../pulled-models.js'
import { nearestOf } from '../../api/words.js'
import { withLock } from './lock.js'

/**
 * @param requireUnused - Throws if it must stay.
 * @returns Its size in bytes.
 * @throws {@link OiError} `ERR_PULL` if it is being pulled, `ERR_NOT_FOUND` if no model has this
 *   name; what `requireUnused` throws.
 */
export async function removeModel(
  modelsDir: string,
  name: string,
  requireUnused: () => Promise<void>,
): Promise<number> {
  const unfinished = join(modelsDir, unfinishedFolder)
  const folders = [join(modelsDir, name), join(unfinished, name)]
  if (!folders.some((folder) => existsSync(folder))) {
    const known = listPulled(modelsDir).map((model) => model.name)
    const hint = known.length === 0 ? 'there is none' : `did you mean ${nearestOf(name, known)}?`
    throw new OiError(
      'ERR_NOT_FOUND',
      `No model ${name} has been pulled into ${modelsDir}: ${hint}`,
    )
  }
  await mkdir(unfinished, { recursive: true })
  return withLock(unfinished, name, async () => {
    await requireUnused()
    let bytes = 0
    for (const folder of folders) {
      if (existsSync(folder)) bytes += bytesIn(folder)
      // A rename first: nobody opens a part of a model while it is being removed.
      const doomed = join(unfinished, `${name}.replaced`)
      await rename(folder, doomed).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
      await rm(doomed, { recursive: true, force: true })
    }
    return bytes
  })
}

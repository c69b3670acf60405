/**
 * A model is loaded in a process of its own first, which may die: some files make llama.cpp abort, a
 * few of them only when the model is asked.
 *
 * @module
 */

import { availableMemory } from '../engine/machine.js'
import { OiError } from '../errors.js'
import { fileBytes } from '../models/file-facts.js'
import { inMemory } from '../models/memory-plan.js'
import { type TriedOptions, tryOnce } from '../models/tried-models.js'
import { tryOut } from '../models/try-out.js'
import { openIsolated } from '../runner/isolate.js'
import { endOf } from '../runner/runner-process.js'

/**
 * Makes sure that a model can be loaded and asked (with an image if it has a projector) without
 * ending the process.
 *
 * @throws {@link OiError} `ERR_MODEL_LOAD` with llama.cpp's last output; the errors of opening the
 *   model.
 */
export function requireLoadable(options: TriedOptions): Promise<void> {
  return tryOnce(options, () =>
    isLoaded(options).catch((error: unknown) => {
      if (error instanceof OiError && endOf(error) === undefined) throw error
      // If no process can be started, the model is loaded without one.
      return false
    }),
  )
}

/** @returns False if there is no memory for it. */
async function isLoaded(options: TriedOptions): Promise<boolean> {
  const metadata = await openIsolated({ ...options, metadataOnly: true })
  await metadata.close()
  const { modelPath, projectorPath } = options
  const projectorBytes = projectorPath ? await fileBytes(projectorPath) : 0
  const { weightBytes, contextBytes } = inMemory(metadata.info, projectorBytes)
  if (weightBytes + contextBytes > availableMemory()) return false
  const engine = await openIsolated(
    { ...options, hostCacheBytes: 0 },
    { tryOut: (each, say) => tryOut(each, modelPath, say) },
  )
  await engine.close()
  return true
}

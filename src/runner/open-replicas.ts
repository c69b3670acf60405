/**
 * Opens the replicas of a model.
 *
 * @module
 */

import type { EngineOptions } from '../engine/engine.js'
import type { Engine } from '../engine/types.js'
import { type Replica, ReplicaSet } from './replica-set.js'
import { requireSameModel } from './same-model.js'

/**
 * Opens them one after another, so that each has the cores and the disk to itself meanwhile. Each
 * has caches of the sizes in the options, and its own folder on disk.
 *
 * @param devices - One for each replica; at least one.
 * @returns The engine itself if there is only one.
 * @throws As `open`, and {@link OiError} `ERR_MODEL_LOAD` if the file was replaced meanwhile; all
 *   are closed then.
 */
export async function openReplicas(
  devices: readonly string[],
  options: EngineOptions,
  open: (options: EngineOptions) => Promise<Replica>,
): Promise<Engine> {
  const opened: Replica[] = []
  try {
    for (const [i, device] of devices.entries()) {
      const { onProgress, diskCacheDir } = options
      const engine = await open({
        ...options,
        device,
        // All have the first replica's context: which one answers must make no difference.
        contextTokens: opened[0]?.info.contextTokens ?? options.contextTokens,
        // A state always goes to the same replica, so folders share nothing.
        diskCacheDir: diskCacheDir && i > 0 ? `${diskCacheDir}-replica-${i + 1}` : diskCacheDir,
        onProgress: onProgress && ((fraction) => onProgress((i + fraction) / devices.length)),
      })
      opened.push(engine)
      requireSameModel(opened[0]!.info, engine.info)
    }
  } catch (error) {
    await Promise.all(opened.map((engine) => engine.close()))
    throw error
  }
  return opened.length === 1 ? opened[0]! : new ReplicaSet(opened)
}

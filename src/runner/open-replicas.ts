/**
 * Opens a model as often as it is to run.
 *
 * @module
 */

import type { EngineOptions } from '../engine/engine.js'
import type { Engine } from '../engine/types.js'
import { type Replica, ReplicaSet } from './replica-set.js'
import { requireSameModel } from './same-model.js'

/**
 * One after another, as each finds the cores and the disk to itself then. Each has caches of the
 * sizes that the options say; on disk, in a folder of its own.
 *
 * @param devices - Of each replica; at least one.
 * @returns The engine itself if it is the only one.
 * @throws As `open`, and {@link OiError} `ERR_MODEL_LOAD` if the file became another one meanwhile;
 *   all are closed then.
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
        // What one has room for all have: which one is asked is not for the caller to see.
        contextTokens: opened[0]?.info.contextTokens ?? options.contextTokens,
        // Their states are always the same ones.
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

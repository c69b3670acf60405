/**
 * Loads a model for one command.
 *
 * @module
 */

import type { ModelConfig } from '../config.js'
import type { Dependencies } from '../server/dependencies.js'
import type { OpenedModel } from '../opening/opened-model.js'
import { printError } from '../terminal/print.js'
import { withProgress } from '../terminal/progress.js'
import { onOneDevice } from '../opening/models-to-open.js'

/** The settings that are flags of such commands. */
export const modelSettings = [
  'model',
  'modelsDir',
  'mmproj',
  'readout',
  'calibration',
  'contextTokens',
  'threads',
  'device',
  'gpuLayers',
  'orders',
] as const

/**
 * RAM for states unless it is set, MiB: a command asks about each row once, so that most of what a
 * server would keep is of no use to it.
 */
const hostCacheMb = 512

/** Loads a model; shows the progress on a terminal. */
export async function loadModel(
  model: ModelConfig,
  { openModel }: Pick<Dependencies, 'openModel'>,
): Promise<OpenedModel> {
  const chosen = model.hostCacheMb < 0 ? hostCacheMb : model.hostCacheMb
  const one = { ...onOneDevice(model), hostCacheMb: chosen }
  return withProgress('Loading the model', (onProgress) => openModel(one, { onProgress }))
}

interface Opened {
  readonly warning?: string | undefined
  close(): Promise<void>
}

/** Tells the warning of what is opened, and always closes it. */
export async function withOpened<T extends Opened, Result>(
  opening: Promise<T>,
  work: (opened: T) => Promise<Result>,
): Promise<Result> {
  const opened = await opening
  try {
    if (opened.warning !== undefined) printError(`${opened.warning}\n`)
    return await work(opened)
  } finally {
    await opened.close()
  }
}

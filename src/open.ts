/**
 * The library: a model file in, decisions out, in this process.
 *
 * @module
 */

import { join } from 'node:path'
import { requireKnownOptions } from './api/known-options.js'
import { requireOrders } from './api/orders.js'
import { createDecider, type DeciderOptions } from './decide/decide.js'
import { openEngine, type EngineOptions } from './engine/engine.js'
import { loadAddon } from './engine/native.js'
import type { Engine } from './engine/types.js'
import { findCalibration } from './models/calibration-file.js'
import { makeCacheFolder } from './models/cache-folder.js'
import { defaultModelPath } from './models/default-model.js'
import { type FileFacts, fileFacts } from './models/file-facts.js'
import { requireModelFile, requireProjectorFile } from './models/file-kind.js'
import { resolveModel } from './models/pulled-models.js'
import { chosenReadout } from './models/readout-file.js'
import { type Answering, Oi } from './oi.js'
import { openIsolated } from './runner/isolate.js'

export interface OpenOptions extends Omit<EngineOptions, 'modelPath' | 'metadataOnly'>, Answering {
  /**
   * A GGUF file (of a split model, its first part), or the name of a model that `oi models pull`
   * has fetched. Default: `oi-small`, which this package contains.
   */
  model?: string | undefined
  /** The folder of pulled models. Default `data/models`, as for `oi models pull`. */
  modelsDir?: string | undefined
  /**
   * Whether the model runs in a process of its own. A failed assertion of llama.cpp or a lack of
   * memory then ends only that process: its running requests are retried, and this process goes on.
   * Default false.
   */
  isolate?: boolean | undefined
}

/**
 * Opens a model: loads it, warms it up, chooses its readout.
 *
 * @throws {@link OiError} `ERR_MODEL_NOT_FOUND` (or its projector), `ERR_MODEL_LOAD` (no GGUF,
 *   damaged; with `isolate`, llama.cpp's last words), `ERR_MODEL_UNSUPPORTED` (architecture),
 *   `ERR_MODEL_MEMORY` (does not fit), `ERR_READOUT` (a template that always thinks, no usable
 *   labels, a fault in the readout file), `ERR_CALIBRATION` (damaged, or for another model),
 *   `ERR_INVALID_ARGUMENT`, `ERR_ADDON_NOT_FOUND`.
 * @example
 * ```ts
 * await using oi = await open()
 * const { answers } = await oi.decide({
 *   state: 'My card was charged twice.',
 *   questions: { refund: { type: 'noul', instructions: 'Is this about money?' } },
 * })
 * answers.refund // { type: 'noul', noul: 0.97 }
 * ```
 */
export async function open(options: OpenOptions = {}): Promise<Oi> {
  requireKnownOptions('open()', options, knownOptions, meantOptions)
  const { isolate, modelsDir = join('data', 'models'), model, ...others } = options
  const named = model === undefined ? {} : filesOf(model, modelsDir, others)
  return openWith({ ...others, ...named }, isolate ? openIsolated : openEngine)
}

/** The files of a pulled model by its name; a file stands for itself. */
function filesOf(model: string, modelsDir: string, { name, projectorPath }: OpenOptions) {
  const found = resolveModel(model, modelsDir)
  return {
    model: found.file,
    name: name ?? found.name,
    projectorPath: projectorPath ?? found.projector,
  }
}

/**
 * As {@link open}, with another function that opens the engine.
 *
 * @internal
 */
export async function openWith(
  options: Omit<OpenOptions, 'isolate' | 'modelsDir'>,
  openAny: (options: EngineOptions) => Promise<Engine>,
): Promise<Oi> {
  const { model = defaultModelPath, diskCacheDir: dir, ...rest } = options
  requireOrders(options.orders)
  await requireModelFile(model)
  if (options.projectorPath) await requireProjectorFile(options.projectorPath)
  // First: a fault in these files shows at once, and a large model takes long to load.
  const answering = await readAnswering(model, options)
  // Hashing reads the pages that loading maps anyway; both at once take as long as one.
  const facts = fileFacts(model)
  facts.catch(() => {}) // the engine's own error names the file better
  const diskCacheDir = dir ? await ownFolder(dir, facts, options) : undefined
  const engine = await openAny({ ...rest, modelPath: model, diskCacheDir })
  try {
    const known = await facts
    const decider = await createDecider(engine, { ...known, ...answering })
    return new Oi(engine, decider, async (settings) =>
      createDecider(engine, { ...known, ...(await readAnswering(model, settings)) }),
    )
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** Reads the files that say how to ask a model and how to calibrate its answers. */
async function readAnswering(
  model: string,
  { readout, calibration, ...settings }: Answering,
): Promise<Omit<DeciderOptions, keyof FileFacts>> {
  const { name, aliases, default: isDefault, orders, maxQuestions } = settings
  return {
    ...{ name, aliases, default: isDefault, orders, maxQuestions },
    readout: readout ? await chosenReadout(readout) : undefined,
    calibration: await findCalibration(model, calibration),
  }
}

type KnownOption = keyof OpenOptions
/** An object, so that the compiler finds a missing name. */
const knownOptions = Object.keys({
  ...{ model: 0, name: 0, aliases: 0, default: 0, orders: 0, readout: 0, calibration: 0 },
  ...{ projectorPath: 0, contextTokens: 0, maxForks: 0, batchTokens: 0, microbatchTokens: 0 },
  ...{ threads: 0, device: 0, split: 0, tensorSplit: 0, gpuLayers: 0, cpuExperts: 0 },
  ...{ mmap: 0, mlock: 0, flashAttention: 0, cacheType: 0, kernels: 0 },
  ...{ maxQueued: 0, maxBacklogMs: 0, deterministic: 0, hostCacheBytes: 0, diskCacheDir: 0 },
  ...{ diskCacheBytes: 0, maxQuestions: 0, isolate: 0, onProgress: 0, modelsDir: 0 },
} satisfies Record<KnownOption, 0>)
/** Settings of the command that have another name here. */
const meantOptions: Readonly<Record<string, KnownOption>> = {
  mmproj: 'projectorPath',
  file: 'model',
  modelPath: 'model',
  hostCacheMb: 'hostCacheBytes',
  diskCacheMb: 'diskCacheBytes',
}

async function ownFolder(
  dir: string,
  facts: Promise<FileFacts>,
  { projectorPath, cacheType = 'f16', flashAttention = 'auto', kernels = 'auto' }: OpenOptions,
): Promise<string> {
  const { digest } = await facts
  const projectorDigest = projectorPath ? (await fileFacts(projectorPath)).digest : undefined
  const { llamaCommit } = loadAddon()
  const owner = { digest, projectorDigest, llamaCommit, cacheType, flashAttention, kernels }
  return makeCacheFolder(dir, owner)
}

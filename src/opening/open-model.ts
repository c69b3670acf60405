/**
 * Opens models for `oi serve` and `oi ask`.
 *
 * @module
 */

import { basename } from 'node:path'
import type { ModelConfig } from '../config.js'
import { modelName } from '../decide/model-card.js'
import { type EngineOptions, openEngine } from '../engine/engine.js'
import { loadAddon } from '../engine/native.js'
import type { Engine } from '../engine/types.js'
import { fileBytes } from '../models/file-facts.js'
import { requireModelFile, requireProjectorFile } from '../models/file-kind.js'
import { mebibyte, type MemoryNeed, memoryNeed, sumNeeds } from '../models/memory-plan.js'
import { chosenReadout } from '../models/readout-file.js'
import { triedOptions, tryOnce } from '../models/tried-models.js'
import { tryOut } from '../models/try-out.js'
import { openWith } from '../open.js'
import { createReadout } from '../prompt/readout.js'
import { openIsolated } from '../runner/isolate.js'
import { openReplicas } from '../runner/open-replicas.js'
import type { SupervisedEngine } from '../runner/supervised-engine.js'
import type { SupervisorEvents } from '../runner/supervision.js'
import { answeringOf } from './answering.js'
import { placesText } from './places-text.js'
import type { OpenModel, SurveyModel } from './opened-model.js'
import { replicaDevices } from './models-to-open.js'
import { requireLoadable } from './require-loadable.js'

/** A setting of 0 leaves the choice to the engine. */
const chosen = (value: number) => (value === 0 ? undefined : value)

export const openModel: OpenModel = async (model, { onProgress, isolate }) => {
  const { file, diskCacheDir } = model
  const projectorPath = model.mmproj === '' ? undefined : model.mmproj
  const devices = replicaDevices(model)
  if (isolate === undefined) await probeModel(model)
  const runners: SupervisedEngine[] = []
  const oi = await openWith(
    {
      ...engineOptions(model),
      ...answeringOf(model),
      ...{ model: file, projectorPath, diskCacheDir, onProgress },
    },
    (options) =>
      openReplicas(devices, options, async (each) => {
        if (isolate === undefined) return openEngine(each)
        const runner = await openRunner(each, isolate)
        runners.push(runner)
        return runner
      }),
  )
  const { info, card } = oi
  const attention = info.recurrent || info.hybrid ? 'recurrent' : 'attention'
  const { changedHeaders } = loadAddon()
  const kernels =
    info.kernels !== ''
      ? ` with own kernels (${info.kernels})`
      : changedHeaders !== '' && model.kernels === 'auto'
        ? ` without own kernels, up to three times slower (built for another llama.cpp: ${changedHeaders})`
        : ''
  const startLine =
    `Model ${card.name} (${info.description}, ${attention}) on ${placesText(info)}${kernels}, ` +
    (devices.length === 1 ? '' : `${devices.length} replicas, `) +
    `${info.threads} thread${info.threads === 1 ? '' : 's'}, context ${info.contextTokens} tokens, readout ${card.readout}` +
    (oi.orders === 1 ? '' : `, orders ${oi.orders}`) +
    (info.vision ? ', sees images' : '') +
    (card.calibration ? `, calibrated by ${card.calibration.data}` : '') +
    (runners.length === 0
      ? ''
      : `, process${runners.length === 1 ? '' : 'es'} ${runners.map(({ pid }) => pid).join(', ')}`)
  return {
    runners,
    decider: oi.trusting(),
    startLine,
    warning: warningOf(card.name, oi.randomWeights, info.notes),
    temperatures: oi.temperatures,
    device: info.device,
    prepare: (settings) => oi.prepare(answeringOf(settings)),
    close: () => oi.close(),
  }
}

function warningOf(name: string, randomWeights: boolean, notes: readonly string[]) {
  const lines = notes.map((note) => `Model ${name}: ${note}.`)
  if (randomWeights)
    lines.push(`The weights of ${name} are random numbers: its answers mean nothing.`)
  return lines.length === 0 ? undefined : lines.join('\n')
}

/** The runner itself tries the model out, and no process before it: its own may end as well. */
function openRunner(options: EngineOptions, events: SupervisorEvents): Promise<SupervisedEngine> {
  const tryEngine = (engine: Engine, say: (stage: string) => void) =>
    tryOnce(triedOptions(options), async () => {
      await tryOut(engine, options.modelPath, say)
      return true
    })
  return openIsolated(options, { events, tryOut: tryEngine })
}

export const surveyModel: SurveyModel = async (model, isolate) => {
  const { file, mmproj, name, hostCacheMb, readout } = model
  const custom = readout === '' ? undefined : await chosenReadout(readout)
  const devices = replicaDevices(model)
  if (!isolate) await probeModel(model)
  const projectorBytes = mmproj === '' ? 0 : await fileBytes(mmproj)
  const needs = new Map<string, MemoryNeed>()
  for (const device of new Set(devices)) {
    const engine = await openMetadata({ ...model, device }, isolate ? openIsolated : openEngine)
    try {
      // Errors of the readout show before the first of several models is loaded.
      if (custom !== undefined) await createReadout(engine, { custom })
      const { info } = engine
      const called = modelName(info, { name, fileName: basename(file) })
      needs.set(device, memoryNeed(called, info, hostCacheMb < 0, projectorBytes))
    } finally {
      await engine.close()
    }
  }
  return sumNeeds(devices.map((device) => needs.get(device)!))
}

/**
 * Loads the model in a process that may die, unless it is known to load. @throws As {@link open}.
 */
export async function probeModel(model: ModelConfig): Promise<void> {
  const { file, mmproj } = model
  await requireFiles(model)
  const projectorPath = mmproj === '' ? undefined : mmproj
  await requireLoadable(triedOptions({ ...engineOptions(model), modelPath: file, projectorPath }))
}

/** Opens vocabulary and metadata without weights. @throws As {@link openEngine}. */
export async function openMetadata(
  model: ModelConfig,
  openAny: (options: EngineOptions) => Promise<Engine> = openEngine,
): Promise<Engine> {
  await requireFiles(model)
  return openAny({ ...engineOptions(model), modelPath: model.file, metadataOnly: true })
}

/** Checked first, for the clearest error about a file that is no model. */
async function requireFiles({ file, mmproj }: ModelConfig): Promise<void> {
  await requireModelFile(file)
  if (mmproj !== '') await requireProjectorFile(mmproj)
}

/**
 * The options without the files, as the folder of the disk cache depends on the model's digest.
 * They are for one replica (replicas have equal parts of the caches), on the first device.
 */
function engineOptions(
  model: ModelConfig,
): Omit<EngineOptions, 'modelPath' | 'projectorPath' | 'diskCacheDir'> {
  const devices = replicaDevices(model)
  const part = (size: number) => Math.floor((size * mebibyte) / devices.length)
  return {
    device: devices[0],
    contextTokens: chosen(model.contextTokens),
    threads: chosen(model.threads),
    split: model.split,
    tensorSplit: model.tensorSplit === '' ? undefined : model.tensorSplit.split(',').map(Number),
    gpuLayers: model.gpuLayers,
    cpuExperts: model.cpuExperts,
    maxForks: chosen(model.maxForks),
    batchTokens: chosen(model.batchTokens),
    microbatchTokens: chosen(model.microbatchTokens),
    mmap: model.mmap === 'on',
    mlock: model.mlock,
    flashAttention: model.flashAttention,
    cacheType: model.cacheType,
    kernels: model.kernels,
    deterministic: model.deterministic,
    maxQueued: model.maxQueued,
    maxBacklogMs: model.maxBacklogMs,
    hostCacheBytes: model.hostCacheMb < 0 ? undefined : part(model.hostCacheMb),
    diskCacheBytes: part(model.diskCacheMb),
  }
}

/**
 * Models on the server's disk, for its administrators.
 *
 * @module
 */

import { dirname, resolve } from 'node:path'
import type { NamedModelStatus, PullAdmin } from '../../admin/pulls.js'
import { shellArgument } from '../../api/words.js'
import { type Config, modelConfig, modelsDirOf } from '../../config.js'
import { OiError } from '../../errors.js'
import { defaultModelName, defaultModelPath } from '../../models/default-model.js'
import { bytesOf, isPulled, type NamedModel, namedModels } from '../../models/named-models.js'
import {
  hubOf,
  hubToken,
  pullConnections,
  pullDefaults,
  readSha256,
} from '../../models/pull/hub-settings.js'
import { PullMeter } from '../../models/pull/meter.js'
import { checkingText, freeBytesIn, pullModel } from '../../models/pull/pull.js'
import { removeModel } from '../../models/pull/remove.js'
import { isModelName } from '../../models/pulled-models.js'
import { probeModel } from '../../opening/open-model.js'
import type { Environment } from '../dependencies.js'
import type { SlotStatus } from './model-slot.js'
import type { ModelSlots } from './model-slots.js'

interface PullsOptions {
  readonly config: () => Config
  readonly environment: Environment
  readonly slots: ModelSlots
  readonly warn: (text: string) => void
}

export function createPulls({ config, environment, slots, warn }: PullsOptions): PullAdmin {
  /** The loaded model whose files lie in the folder of this name. */
  const userOf = (name: string, loaded: readonly SlotStatus[]) => {
    const folder = resolve(modelsDirOf(config()), name)
    return loaded.find(({ file }) => resolve(dirname(file)) === folder)
  }
  const requireUnused = (name: string): Promise<void> => {
    const user = userOf(name, slots.status())
    if (user === undefined) return Promise.resolve()
    const message = `${name} is loaded, as ${user.model}: unload it first`
    return Promise.reject(new OiError('ERR_CONFLICT', message))
  }
  const statusOf = (model: NamedModel, loaded: readonly SlotStatus[]): NamedModelStatus => {
    const { name, bytes } = model
    const pulled = isPulled(model)
    const packaged = !pulled && 'source' in model
    const isOpen = packaged
      ? loaded.some(({ file }) => file === defaultModelPath)
      : userOf(name, loaded) !== undefined
    return {
      ...{ name, bytes, isLoaded: isOpen },
      state: pulled ? 'pulled' : packaged ? 'packaged' : 'unfinished',
      quantization: pulled ? model.quantization : '',
      seesImages: pulled && model.projector !== '',
      source: 'source' in model ? model.source : '',
      pulledMs: pulled ? model.pulledMs : undefined,
    }
  }
  return {
    list: async () => {
      const folder = modelsDirOf(config())
      const freeBytes = await freeBytesIn(folder).catch(() => freeBytesIn(config().dataDir))
      const loaded = slots.status()
      const models = namedModels(folder).map((model) => statusOf(model, loaded))
      return { models, folder: resolve(folder), freeBytes }
    },
    pull: async ({ source, name, sha256 }, onProgress, signal) => {
      const hub = hubOf(environment)
      const meter = new PullMeter()
      const { model } = await pullModel(source, {
        ...{ ...pullDefaults, connections: pullConnections, hub, name, signal },
        token: hubToken(hub, environment, warn),
        sha256: readSha256(sha256, 'sha256'),
        projector: 'own',
        modelsDir: modelsDirOf(config()),
        onRetry: onProgress,
        onProgress: (_, progress) => onProgress(meter.note(progress)[1]),
        requireUnused,
        check: async (file, projector) => {
          onProgress(checkingText)
          await probeModel({ ...modelConfig(config(), file), mmproj: projector })
        },
      })
      return statusOf({ ...model, bytes: bytesOf(model) }, slots.status())
    },
    remove: async (name) => {
      if (name === defaultModelName) {
        throw new OiError('ERR_CONFLICT', `${name} belongs to this package, and is not removed`)
      }
      if (!isModelName(name))
        throw new OiError('ERR_NOT_FOUND', `No model can have the name ${name}`)
      return removeModel(modelsDirOf(config()), name, async () => {
        await requireUnused(name)
        if (!config().models.some(({ file }) => file === name)) return
        const remedy = `oi models rm ${shellArgument(name)} --force removes it`
        throw new OiError('ERR_CONFLICT', `The settings name ${name}: ${remedy}`)
      })
    },
  }
}

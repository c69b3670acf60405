/**
 * Which models a command opens: those that were named, or else that of the package; how often each,
 * and on which devices.
 *
 * @module
 */

import { type Config, type ModelConfig, modelConfig, modelsDirOf } from '../../config.js'
import { OiError } from '../../errors.js'
import { defaultModelPath } from '../../models/default-model.js'
import { resolveModel } from '../../models/pulled-models.js'

/**
 * At least one; the first answers where a request names none.
 *
 * @throws {@link OiError} `ERR_MODEL_LOAD` if what is known of a pulled one is damaged.
 */
export function modelsToOpen(config: Config): readonly ModelConfig[] {
  if (config.models.length === 0) return [modelConfig(config, defaultModelPath)]
  return config.models.map((model) => withFiles(model, config))
}

/** The first of them. */
export function modelToOpen(config: Config): ModelConfig {
  return modelsToOpen(config)[0]!
}

/** A model that may be named by the name of a pulled one, with the files that this means. */
export function withFiles(model: ModelConfig, config: Config): ModelConfig {
  const { file, projector = '', name } = resolveModel(model.file, modelsDirOf(config))
  return { ...model, file, name: model.name ?? name, mmproj: model.mmproj || projector }
}

/**
 * @returns The device of each replica, '' for one that nobody chose: as many replicas as asked for,
 *   else one on each device that was named. Devices that are named twice count twice.
 * @throws {@link OiError} `ERR_CONFIG` if there are fewer replicas than devices.
 */
export function replicaDevices({
  device,
  replicas,
}: Pick<ModelConfig, 'device' | 'replicas'>): readonly string[] {
  const devices = device.split(',').map((name) => name.trim())
  const count = replicas === 0 ? devices.length : replicas
  if (count < devices.length) {
    throw new OiError(
      'ERR_CONFIG',
      `replicas: expected one for each device at least, got ${count} for ${devices.join(', ')}`,
    )
  }
  return Array.from({ length: count }, (_, i) => devices[i % devices.length]!)
}

/** The same model, on the first of its devices alone: for who asks one thing after another. */
export function onOneDevice(model: ModelConfig): ModelConfig {
  return { ...model, device: replicaDevices(model)[0]!, replicas: 1 }
}

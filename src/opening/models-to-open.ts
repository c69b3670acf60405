/**
 * The models that a command opens (the named ones, or else the package's), with their replicas and
 * devices.
 *
 * @module
 */

import { type Config, type ModelConfig, modelConfig, modelsDirOf } from '../config.js'
import { OiError } from '../errors.js'
import { defaultModelPath } from '../models/default-model.js'
import { resolveModel } from '../models/pulled-models.js'

/**
 * At least one; the first is the default.
 *
 * @throws {@link OiError} `ERR_MODEL_LOAD` if the description of a pulled model is damaged.
 */
export function modelsToOpen(config: Config): readonly ModelConfig[] {
  if (config.models.length === 0) return [modelConfig(config, defaultModelPath)]
  return config.models.map((model) => withFiles(model, config))
}

/** The default model. */
export function modelToOpen(config: Config): ModelConfig {
  return modelsToOpen(config)[0]!
}

/** A model with its files; a name of a pulled model is replaced by the model's files. */
export function withFiles(model: ModelConfig, config: Config): ModelConfig {
  const { file, projector = '', name } = resolveModel(model.file, modelsDirOf(config))
  return { ...model, file, name: model.name ?? name, mmproj: model.mmproj || projector }
}

/**
 * @returns The device of each replica, '' for an unchosen one: as many replicas as the settings
 *   say, else one on each named device. A device that is named twice counts twice.
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
      `replicas: expected at least one for each device, got ${count} for ${devices.join(', ')}`,
    )
  }
  return Array.from({ length: count }, (_, i) => devices[i % devices.length]!)
}

/**
 * The same model on the first of its devices alone, for commands that send one request at a time.
 */
export function onOneDevice(model: ModelConfig): ModelConfig {
  return { ...model, device: replicaDevices(model)[0]!, replicas: 1 }
}

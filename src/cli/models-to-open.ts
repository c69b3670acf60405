/**
 * Which models a command opens: those that were named, or else that of the package.
 *
 * @module
 */

import { type Config, type ModelConfig, modelConfig, modelsDirOf } from '../config.js'
import { defaultModelPath } from '../models/default-model.js'
import { resolveModel } from '../models/pulled-models.js'

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

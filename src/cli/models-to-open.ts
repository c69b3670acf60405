/**
 * Which models a command opens: those that were named, or else that of the package.
 *
 * @module
 */

import { type Config, type ModelConfig, modelConfig } from '../config.js'
import { defaultModelPath } from '../models/default-model.js'

/** At least one; the first answers where a request names none. */
export function modelsToOpen(config: Config): readonly ModelConfig[] {
  return config.models.length > 0 ? config.models : [modelConfig(config, defaultModelPath)]
}

/** The first of them. */
export function modelToOpen(config: Config): ModelConfig {
  return modelsToOpen(config)[0]!
}

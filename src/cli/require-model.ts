/**
 * Which models a command opens: those that were named, or else the default model.
 *
 * @module
 */

import { type Config, type ModelConfig, modelConfig } from '../config.js'
import { OiError } from '../errors.js'
import type { Dependencies } from './dependencies.js'

/** @throws {@link OiError} `ERR_CONFIG` if there are neither. */
export function requireModels(
  config: Config,
  { defaultModel }: Dependencies,
): readonly ModelConfig[] {
  if (config.models.length > 0) return config.models
  const file = defaultModel()
  if (file !== undefined) return [modelConfig(config, file)]
  throw new OiError(
    'ERR_CONFIG',
    'No model was named, and there is no default model.\n' +
      'Name a GGUF file with --model <file> or OI_MODEL. In a checkout, `npm start` makes a small\n' +
      'default model of random weights, for trying out.',
  )
}

/** The model that answers where none is asked for by name. @throws As {@link requireModels}. */
export function requireModel(config: Config, dependencies: Dependencies): ModelConfig {
  return requireModels(config, dependencies)[0]!
}

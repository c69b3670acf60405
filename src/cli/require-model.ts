/**
 * Which model a command opens: the one that was named, or else the default model.
 *
 * @module
 */

import type { Config } from '../config.js'
import { OiError } from '../errors.js'
import type { Dependencies } from './dependencies.js'

/** @throws {@link OiError} `ERR_CONFIG` if there is neither. */
export function requireModel(config: Config, { defaultModel }: Dependencies): Config {
  const model = config.model || defaultModel()
  if (model !== undefined) return { ...config, model }
  throw new OiError(
    'ERR_CONFIG',
    'No model was named, and there is no default model.\n' +
      'Name a GGUF file with --model <file> or OI_MODEL. In a checkout, `npm start` makes a small\n' +
      'default model of random weights, for trying out.',
  )
}

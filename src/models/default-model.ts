/**
 * The model of this package, the default. `weights/oi-small.md` describes it.
 *
 * @module
 */

import { join } from 'node:path'
import { packageRoot } from '../package-root.js'

/** Its name, which is used like a pulled model's. */
export const defaultModelName = 'oi-small'
export const defaultModelPath = join(
  packageRoot,
  'src',
  'models',
  'weights',
  `${defaultModelName}.gguf`,
)

/**
 * The model of this package, the default. `oi-small.md` beside it describes it.
 *
 * @module
 */

import { join } from 'node:path'
import { packageRoot } from '../package-root.js'

export const defaultModelPath = join(packageRoot, 'src', 'models', 'oi-small.gguf')

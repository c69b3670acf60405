/**
 * The model of this package, which answers where none is named. `oi-small.md` beside it says what it is.
 *
 * @module
 */

import { join } from 'node:path'
import { packageRoot } from '../package-root.js'

export const defaultModelPath = join(packageRoot, 'src', 'models', 'oi-small.gguf')

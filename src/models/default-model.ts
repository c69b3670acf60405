/**
 * The model of this package, the default. `oi-small.md` beside it describes it.
 *
 * @module
 */

import { join, resolve } from 'node:path'
import { packageRoot } from '../package-root.js'

export const defaultModelPath = join(packageRoot, 'src', 'models', 'oi-small.gguf')

/**
 * The default context of a model, in tokens; undefined: the engine chooses. The model of this
 * package gets room for the 255 options that its card promises, of five unknown words each, though
 * it was trained on shorter texts: 25 MB more.
 */
export function standardContextTokens(file: string): number | undefined {
  return resolve(file) === defaultModelPath ? 8192 : undefined
}

/**
 * The model of this package, which answers where none is named. `oi-small.md` beside it says what it is.
 *
 * @module
 */

import { join, resolve } from 'node:path'
import { packageRoot } from '../package-root.js'

export const defaultModelPath = join(packageRoot, 'src', 'models', 'oi-small.gguf')

/**
 * The context of a model, in tokens, where nobody chose one; undefined: the engine's own choice. The
 * model of this package has room for the 255 options that its card speaks of, of five unknown words
 * each, though it was trained on shorter texts: 25 MB more.
 */
export function standardContextTokens(file: string): number | undefined {
  return resolve(file) === defaultModelPath ? 8192 : undefined
}

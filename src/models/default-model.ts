/**
 * The model that is used when none is named: whatever `models/default.gguf` of this package
 * leads to. `npm start` makes that link; anybody may point it elsewhere.
 *
 * @module
 */

import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../package-root.js'

/** The link, whether it is there or not. */
export function defaultModelLink(root = packageRoot): string {
  return join(root, 'models', 'default.gguf')
}

/**
 * The file that the link leads to, so that the model is named after it and the other parts of a
 * split model are found beside it; undefined if there is no link, or its file is gone.
 */
export function defaultModelPath(root = packageRoot): string | undefined {
  try {
    return realpathSync(defaultModelLink(root))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

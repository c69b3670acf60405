/**
 * Whether two engines have the same model: the file may have been replaced before it was opened
 * again.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util'
import type { ModelInfo } from '../engine/types.js'
import { OiError } from '../errors.js'

/** The facts that depend on the file only, not on the device or the options. */
const ofFile = [
  ...(['architecture', 'description', 'parameters', 'weightBytes', 'vocabularySize'] as const),
  ...(['metadata', 'chatTemplate', 'chatTemplates', 'bosToken', 'eosToken', 'vision'] as const),
] as const satisfies readonly (keyof ModelInfo)[]

/** @throws {@link OiError} `ERR_MODEL_LOAD` if a fact differs. */
export function requireSameModel(first: ModelInfo, next: ModelInfo): void {
  const different = ofFile.find((name) => !isDeepStrictEqual(first[name], next[name]))
  if (different === undefined) return
  throw new OiError(
    'ERR_MODEL_LOAD',
    `The file has another model than before: ${different} is different`,
  )
}

/**
 * The models that have names on this machine: the package's, those that were pulled, and pulls that
 * are not whole yet.
 *
 * @module
 */

import { statSync } from 'node:fs'
import { defaultModelName, defaultModelPath } from './default-model.js'
import { listPulled, listUnfinished, type PulledModel } from './pulled-models.js'

export type NamedModel =
  | (PulledModel & { readonly bytes: number })
  | { readonly name: string; readonly bytes: number; readonly unfinished: true }
  | { readonly name: string; readonly bytes: number; readonly source: 'this package' }

export function isPulled(model: NamedModel): model is PulledModel & { readonly bytes: number } {
  return 'files' in model
}

/** @throws As {@link listPulled}. */
export function namedModels(modelsDir: string): readonly NamedModel[] {
  const { size } = statSync(defaultModelPath)
  return [
    { name: defaultModelName, bytes: size, source: 'this package' },
    ...listPulled(modelsDir).map((model) => ({ ...model, bytes: bytesOf(model) })),
    ...listUnfinished(modelsDir).map((pull) => ({ ...pull, unfinished: true as const })),
  ]
}

/** Of all its files. */
export function bytesOf({ files }: PulledModel): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}

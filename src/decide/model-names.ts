/**
 * The names under which models answer, and the refusal of other names.
 *
 * @module
 */

import { shortened } from '../api/place.js'
import { OiError } from '../errors.js'
import type { ModelCard } from './types.js'

/** Names under which the default model answers besides its own. */
export const defaultNames = ['default', 'latest', 'jev-latest', 'jev-preview']

export type Named = Pick<ModelCard, 'name' | 'aliases' | 'default'>

/** All names of one model, each once, its own name first. */
export function namesOf({ name, aliases, default: isDefault }: Named): readonly string[] {
  return [...new Set([name, ...aliases, ...(isDefault ? defaultNames : [])])]
}

/**
 * Refuses two models with the same name.
 *
 * @throws {@link OiError} `ERR_CONFIG` naming both files.
 */
export function requireDistinctNames(models: readonly (Named & { readonly file: string })[]): void {
  const owners = new Map<string, Named & { readonly file: string }>()
  for (const model of models) {
    for (const name of namesOf(model)) {
      const owner = owners.get(name)
      if (owner !== undefined && owner !== model) {
        throw new OiError(
          'ERR_CONFIG',
          `The models ${owner.file} and ${model.file} both claim the name ${name}: give one of ` +
            'them another name, or other aliases',
        )
      }
      owners.set(name, model)
    }
  }
}

/**
 * @param allowed - Own names of the models that the caller may use; undefined: all.
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` listing them, if `name` is none of them.
 */
export function requireAllowed(name: string, allowed: readonly string[] | undefined): void {
  if (allowed === undefined || allowed.includes(name)) return
  throw new OiError(
    'ERR_REQUEST_UNACCEPTABLE',
    `model: this key may use ${allowed.join(', ')}, not ${name}`,
    { param: 'model' },
  )
}

/** The refusal of a key whose models are not there. @param allowed - Their names. */
export function noneAllowed(allowed: readonly string[]): OiError {
  const one = allowed.length === 1
  return new OiError(
    'ERR_REQUEST_UNACCEPTABLE',
    `model: this key may use ${allowed.join(', ')}, and no such ${one ? 'model is' : 'models are'} here`,
    { param: 'model' },
  )
}

/** @param names - All names that exist. */
export function unknownModel(model: string, names: readonly string[]): OiError {
  const got = JSON.stringify(shortened(model))
  return new OiError(
    'ERR_REQUEST_UNACCEPTABLE',
    `model: expected one of ${names.join(', ')}, got ${got}`,
    { param: 'model' },
  )
}

/**
 * Several models in this process, each with an engine of its own.
 *
 * @module
 */

import { requireDistinctNames } from './decide/model-names.js'
import { Router } from './decide/router.js'
import type { AskRequest, DecisionOn, Questions } from './decide/asked-types.js'
import type { DecideOptions, DecideRequest } from './decide/types.js'
import { OiError } from './errors.js'
import { defaultModelPath } from './models/default-model.js'
import type { Oi } from './oi.js'
import { open, type OpenOptions } from './open.js'

/**
 * Opens models one after another. The first is the default: it answers requests without `model`.
 *
 * @throws As {@link open}; `ERR_CONFIG` if two models claim the same name, `ERR_INVALID_ARGUMENT`
 *   if there is none.
 * @example
 * ```ts
 * await using oi = await openAll([{ model: 'small.gguf', aliases: ['fast'] }, { model: 'big.gguf' }])
 * await oi.decide({ model: 'fast', state, questions })
 * ```
 */
export async function openAll(models: readonly Omit<OpenOptions, 'default'>[]): Promise<OiGroup> {
  if (models.length === 0) {
    throw new OiError('ERR_INVALID_ARGUMENT', 'models: expected at least one')
  }
  const opened: Oi[] = []
  try {
    for (const options of models) {
      opened.push(await open({ ...options, default: opened.length === 0 }))
      requireDistinctNames(
        opened.map(({ card }, i) => ({ ...card, file: models[i]!.model ?? defaultModelPath })),
      )
    }
    return new OiGroup(opened)
  } catch (error) {
    await Promise.all(opened.map((oi) => oi.close()))
    throw error
  }
}

/** Open models, at least one. Close them, or declare the group with `await using`. */
export class OiGroup extends Router implements AsyncDisposable {
  /** One per model, the default first; closed by the group. */
  readonly members: readonly Oi[]

  /** @internal Use {@link openAll}. */
  constructor(members: readonly Oi[]) {
    super(members)
    this.members = members
  }

  /** As {@link Oi.decide}, with the model that the request names. */
  override decide<const Q extends Questions>(
    request: AskRequest<Q>,
    options?: DecideOptions,
  ): Promise<DecisionOn<Q>> {
    return super.decide(request as DecideRequest, options) as Promise<
      DecisionOn<Questions>
    > as Promise<DecisionOn<Q>>
  }

  /** As {@link Oi.close}, for each of them. */
  async close(): Promise<void> {
    await Promise.all(this.members.map((oi) => oi.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

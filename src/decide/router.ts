/**
 * Several models as one decider: each request goes to the model that it names.
 *
 * @module
 */

import { namesOf, noneAllowed, unknownModel } from './model-names.js'
import type {
  Decided,
  DecideOptions,
  Decider,
  DecideRequest,
  EngineReport,
  ModelCard,
} from './types.js'

export class Router implements Decider {
  readonly models: readonly ModelCard[]
  readonly #deciders: readonly Decider[]
  readonly #byName = new Map<string, Decider>()

  /**
   * @param deciders - At least one, each for one model, with distinct names; the first answers
   *   requests that name no model.
   */
  constructor(deciders: readonly Decider[]) {
    this.#deciders = deciders
    this.models = deciders.flatMap((decider) => decider.models)
    for (const decider of deciders) {
      for (const name of decider.models.flatMap(namesOf)) this.#byName.set(name, decider)
    }
  }

  decide(request: DecideRequest, options?: DecideOptions): Promise<Decided> {
    // The library checks late, so this may be no request; the default model then refuses it.
    const model: unknown = (request as DecideRequest | null)?.model
    if (typeof model !== 'string') return this.#deciders[0]!.decide(request, options)
    const decider = this.#byName.get(model)
    if (decider !== undefined) return decider.decide(request, options)
    const allowed = this.models.filter(({ name }) => options?.models?.includes(name) ?? true)
    if (allowed.length === 0) return Promise.reject(noneAllowed(options!.models!))
    return Promise.reject(unknownModel(model, allowed.flatMap(namesOf)))
  }

  engines(): readonly EngineReport[] {
    return this.#deciders.flatMap((decider) => decider.engines())
  }
}

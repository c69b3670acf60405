/**
 * The models of a running server, each in its slot, as one decider.
 *
 * A request gets its model when its turn comes, and so does each item of a batch: a model that is
 * replaced or removed gets no new requests from then on.
 *
 * @module
 */

import type { ModelConfig } from '../../config.js'
import { namesOf } from '../../decide/model-names.js'
import { Router } from '../../decide/router.js'
import type {
  Decided,
  DecideOptions,
  Decider,
  DecideRequest,
  EngineReport,
  ModelCard,
} from '../../decide/types.js'
import { OiError } from '../../errors.js'
import type { Backend } from '../../http/handlers-options.js'
import type { RunnerReport } from '../../runner/supervision.js'
import type { ModelSlot, SlotStatus } from './model-slot.js'

export class ModelSlots implements Backend, Decider {
  /** Called when the served models have changed. */
  onChange = () => {}
  #state: ReturnType<Backend['state']> = 'loading'
  #list: readonly ModelSlot[] = []
  /** Slots that finish their last requests. */
  readonly #leaving = new Set<ModelSlot>()
  #router = new Router([])

  state() {
    return this.#state
  }

  decider(): Decider | undefined {
    return this.#state === 'ready' ? this : undefined
  }

  get models(): readonly ModelCard[] {
    return this.#router.models
  }

  decide(request: DecideRequest, options?: DecideOptions): Promise<Decided> {
    return this.#router.decide(request, options)
  }

  engines(): readonly EngineReport[] {
    return this.#router.engines()
  }

  /** All slots, the default model's first. */
  get list(): readonly ModelSlot[] {
    return this.#list
  }

  status(): readonly SlotStatus[] {
    return [...this.#list, ...this.#leaving].flatMap((slot) => slot.status())
  }

  /** The models' settings by name; the default model first. */
  asked(): ReadonlyMap<string, ModelConfig> {
    return new Map(this.#list.map(({ planned: { name, asked } }) => [name, asked]))
  }

  /**
   * @param name - Any of its names. @throws {@link OiError} `ERR_NOT_FOUND` with the known names.
   */
  find(name: string): ModelSlot {
    const found = this.#list.find((slot) => namesOf(slot.card).includes(name))
    if (found !== undefined) return found
    const known = this.#list.map(({ planned }) => planned.name).join(', ')
    throw new OiError('ERR_NOT_FOUND', `There is no model ${name} (loaded: ${known})`)
  }

  runners(): readonly RunnerReport[] {
    return this.#list.flatMap((slot) => slot.runners())
  }

  /** Announces the models that will be loaded. */
  announce(list: readonly ModelSlot[]): void {
    this.#list = list
  }

  /**
   * Routes requests to these slots from now on.
   *
   * @param list - At least one, the default model's first. All have been filled once.
   */
  route(list: readonly ModelSlot[]): void {
    this.#list = list
    this.#router = new Router(list.map((slot) => slot.decider))
    if (this.#state === 'loading') this.#state = 'ready'
    this.onChange()
  }

  /** The first models could not be opened. */
  fail(): void {
    if (this.#state === 'loading') this.#state = 'failed'
  }

  /** Notes a slot that gets no more requests. */
  leave(slot: ModelSlot): void {
    this.#leaving.add(slot)
    slot.leave()
  }

  /** Drops a slot that has finished. */
  forget(slot: ModelSlot): void {
    this.#leaving.delete(slot)
  }

  /** Closes the models; does not wait for one that is still loading. */
  async close(): Promise<void> {
    this.#state = 'closing'
    const slots = [...this.#list, ...this.#leaving]
    await Promise.all(slots.flatMap(({ served }) => served?.opened.close() ?? []))
  }
}

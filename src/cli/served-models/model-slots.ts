/**
 * The models of a running server, each in its slot, as one decider.
 *
 * A request is given its model when its turn comes, each item of a batch as well: a model that is
 * replaced or taken away gets nothing new from then on.
 *
 * @module
 */

import type { ModelStatus } from '../../admin/operations.js'
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
import type { ModelSlot } from './model-slot.js'

export class ModelSlots implements Backend, Decider {
  /** Told when others are served than before. */
  onChange = () => {}
  #state: ReturnType<Backend['state']> = 'loading'
  #list: readonly ModelSlot[] = []
  /** Those that finish what they were asked. */
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

  /** The default model's first. */
  get list(): readonly ModelSlot[] {
    return this.#list
  }

  status(): readonly ModelStatus[] {
    return [...this.#list, ...this.#leaving].flatMap((slot) => slot.status())
  }

  /** Models as they were asked for, by their names; the default model first. */
  asked(): ReadonlyMap<string, ModelConfig> {
    return new Map(this.#list.map(({ planned: { name, asked } }) => [name, asked]))
  }

  /** @param name - Any of its names. @throws {@link OiError} `ERR_NOT_FOUND` with those there are. */
  find(name: string): ModelSlot {
    const found = this.#list.find((slot) => namesOf(slot.card).includes(name))
    if (found !== undefined) return found
    const known = this.#list.map(({ planned }) => planned.name).join(', ')
    throw new OiError('ERR_NOT_FOUND', `There is no model ${name} (loaded: ${known})`)
  }

  runners(): readonly RunnerReport[] {
    return this.#list.flatMap((slot) => slot.runners())
  }

  /** Which models there will be. */
  announce(list: readonly ModelSlot[]): void {
    this.#list = list
  }

  /**
   * Sends requests to these from now on: other slots, or others in them.
   *
   * @param list - At least one, the default model's first. All of them have been filled once.
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

  /** One that is sent nothing any more. */
  leave(slot: ModelSlot): void {
    this.#leaving.add(slot)
    slot.leave()
  }

  /** One that has left. */
  forget(slot: ModelSlot): void {
    this.#leaving.delete(slot)
  }

  /** Waits for the models' own end, but not for one that is still being loaded. */
  async close(): Promise<void> {
    this.#state = 'closing'
    const slots = [...this.#list, ...this.#leaving]
    await Promise.all(slots.flatMap(({ served }) => served?.opened.close() ?? []))
  }
}

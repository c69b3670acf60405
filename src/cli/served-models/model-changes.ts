/**
 * What is done with the models of a running server: opened, taken away, opened anew.
 *
 * Rules
 *   1. One thing after another, so that each model that is loaded finds the cores, the disk and the
 *      memory to itself.
 *   2. A model is loaded anew beside the old one, which answers meanwhile. Only where memory does
 *      not allow that, the old one ends first, and requests are refused with 503 until the new
 *      one is there.
 *   3. Nothing is half done: what fails leaves all models as they were, but for a model whose
 *      predecessor had to end first, which can be loaded again, or unloaded.
 *
 * @module
 */

import type { ModelStatus, OnProgress } from '../../admin/operations.js'
import type { ModelConfig } from '../../config.js'
import { requireDistinctNames } from '../../decide/model-names.js'
import { availableMemory } from '../../engine/machine.js'
import { OiError } from '../../errors.js'
import type { MemoryNeed } from '../../models/memory-plan.js'
import { processUsage } from '../../runner/process-usage.js'
import type { OpenedModel } from '../dependencies.js'
import { InTurn } from './in-turn.js'
import { ModelSlot } from './model-slot.js'
import type { ModelSlots } from './model-slots.js'
import { claimOf, planBeside, planModels, type PlannedModel } from './plan-models.js'
import { ServedModel } from './served-model.js'

export interface ModelChangesOptions {
  readonly slots: ModelSlots
  /** @param what - Which model it is, for people. */
  readonly openModel: (
    model: PlannedModel,
    what: string,
    onProgress: (fraction: number) => void,
  ) => Promise<OpenedModel>
  readonly surveyModel: (model: ModelConfig) => Promise<MemoryNeed>
  /** Takes whole lines. */
  readonly say: (text: string) => void
  /** What this process could still take, bytes. Default: as the machine says. */
  readonly availableBytes?: () => number
}

export class ModelChanges {
  readonly #options: ModelChangesOptions
  readonly #slots: ModelSlots
  readonly #turns = new InTurn()

  constructor(options: ModelChangesOptions) {
    this.#options = options
    this.#slots = options.slots
  }

  /**
   * Opens the first models.
   *
   * @param models - At least one; the default model first.
   * @returns The models, ready to answer.
   */
  open(models: readonly ModelConfig[]): Promise<readonly OpenedModel[]> {
    return this.#turns.run(async () => {
      try {
        const { surveyModel, say } = this.#options
        const planned = await planModels(models, surveyModel, say, this.#availableBytes())
        const slots = planned.map((plan) => new ModelSlot(plan))
        this.#slots.announce(slots)
        for (const [i, slot] of slots.entries()) {
          const { name } = slot.planned
          const which = `${name} (${i + 1} of ${planned.length})`
          await this.#fill(slot, planned.length === 1 ? 'the model' : which)
        }
        this.#slots.route(slots)
        return slots.map(({ served }) => served!.opened)
      } catch (error) {
        this.#slots.fail()
        throw error
      }
    })
  }

  /**
   * Opens one more.
   *
   * @param asked - As the default model, if it says so: the one that was is so no more.
   * @throws {@link OiError} What opening it throws; `ERR_CONFIG` if its names are taken,
   *   `ERR_MODEL_MEMORY` if it does not fit beside the others.
   */
  add(asked: ModelConfig, onProgress: OnProgress): Promise<ModelStatus> {
    return this.#inTurn(async () => {
      const before = this.#slots.list
      const isDefault = asked.default === true
      const named = before.map(({ planned }) => (isDefault ? withoutRole(planned) : planned))
      const yieldRole = isDefault ? await before[0]!.prepare(named[0]!.asked) : () => {}
      const slot = new ModelSlot(await this.#plan(asked, named, before))
      await this.#fill(slot, slot.planned.name, onProgress)
      yieldRole()
      this.#slots.route(isDefault ? [slot, ...before] : [...before, slot])
      this.#announce(slot)
      return slot.status()[0]!
    }, onProgress)
  }

  /**
   * Takes one away, and waits until it has answered what it was asked.
   *
   * @param name - Any of its names.
   * @returns How it stood.
   * @throws {@link OiError} `ERR_NOT_FOUND`; `ERR_INVALID_ARGUMENT` for the default model.
   */
  remove(name: string, onProgress: OnProgress): Promise<ModelStatus> {
    return this.#inTurn(async () => {
      const slot = this.#slots.find(name)
      const { name: own } = slot.planned
      if (slot === this.#slots.list[0]) {
        const remedy = 'load another one as the default first (--default)'
        throw new OiError(
          'ERR_INVALID_ARGUMENT',
          `${own} is the default model, which answers requests that name none: ${remedy}`,
        )
      }
      const [status] = slot.status()
      this.#slots.route(this.#slots.list.filter((other) => other !== slot))
      await this.#retire(slot, onProgress)
      this.#options.say(`Unloaded ${own}\n`)
      return status!
    }, onProgress)
  }

  /**
   * Opens one anew: rules 2 and 3.
   *
   * @param name - Any of its names.
   * @param asked - With which settings. Default: with its own.
   * @throws {@link OiError} As {@link add}; `ERR_NOT_FOUND`.
   */
  replace(name: string, onProgress: OnProgress, asked?: ModelConfig): Promise<ModelStatus> {
    return this.#inTurn(async () => {
      const slot = this.#slots.find(name)
      await this.#replace(slot, asked ?? slot.planned.asked, onProgress)
      return slot.status()[0]!
    }, onProgress)
  }

  /**
   * Has all models answer by these settings, with their readouts and calibrations read again, and
   * in this order. None is opened.
   *
   * @param asked - By the models' names, the default model's first. Those that it does not have
   *   stay as they are, behind the others.
   * @throws {@link OiError} `ERR_CONFIG` if names are taken, `ERR_READOUT`, `ERR_CALIBRATION`; nothing
   *   has changed then.
   */
  arrange(asked: ReadonlyMap<string, ModelConfig>): Promise<void> {
    return this.#inTurn(async () => {
      const names = [...asked.keys()]
      const placeOf = ({ planned: { name } }: ModelSlot) =>
        names.includes(name) ? names.indexOf(name) : names.length
      const slots = [...this.#slots.list].sort((a, b) => placeOf(a) - placeOf(b))
      const wanted = slots.map(({ planned }, i) => {
        const settings = asked.get(planned.name) ?? planned.asked
        return { ...planned, asked: { ...settings, default: i === 0 } }
      })
      requireDistinctNames(wanted.map(claimOf))
      const commits = await Promise.all(slots.map((slot, i) => slot.prepare(wanted[i]!.asked)))
      for (const commit of commits) commit()
      this.#slots.route(slots)
    })
  }

  /** Rules 2 and 3. */
  async #replace(slot: ModelSlot, asked: ModelConfig, onProgress: OnProgress): Promise<void> {
    const all = this.#slots.list
    const others = all.filter((other) => other !== slot)
    const named = others.map(({ planned }) => planned)
    const { name } = slot.planned
    const held = all.filter(({ served }) => served !== undefined)
    const beside = await this.#plan(asked, named, held).catch((error: unknown) => {
      if ((error as OiError).code !== 'ERR_MODEL_MEMORY' || !slot.served) throw error
      return undefined
    })
    if (beside !== undefined) {
      const next = new ModelSlot(beside)
      slot.next = next
      try {
        await this.#fill(next, name, onProgress)
      } finally {
        slot.next = undefined
      }
      const old = slot.give(next)
      this.#slots.route(all)
      this.#announce(slot)
      await this.#retire(old, onProgress)
      return
    }
    const after = await this.#plan(
      asked,
      named,
      held.filter((other) => other !== slot),
    )
    onProgress(`There is no room for two of ${name}: requests to it are refused meanwhile`)
    const old = slot.give(new ModelSlot(after))
    this.#slots.route(all)
    await this.#retire(old, onProgress)
    try {
      await this.#fill(slot, name, onProgress)
      this.#announce(slot)
    } finally {
      this.#slots.route(all)
    }
  }

  #plan(model: ModelConfig, named: readonly PlannedModel[], held: readonly ModelSlot[]) {
    const loaded = { named, held: held.map(({ planned }) => planned) }
    return planBeside(model, loaded, this.#options.surveyModel, this.#availableBytes())
  }

  /** For all models together, those included that are loaded. */
  #availableBytes(): number {
    const pids = this.#slots.status().flatMap(({ processes }) => processes.map(({ pid }) => pid))
    const heldBytes = [...new Set(pids)].map((pid) => processUsage(pid)?.ownBytes ?? 0)
    const { availableBytes = availableMemory } = this.#options
    return heldBytes.reduce((sum, bytes) => sum + bytes, availableBytes())
  }

  async #fill(slot: ModelSlot, what: string, onProgress: OnProgress = () => {}) {
    const { name } = slot.planned
    const startMs = performance.now()
    let told = -1
    try {
      const opened = await this.#options.openModel(slot.planned, what, (fraction) => {
        slot.loaded = fraction
        const tenths = Math.floor(10 * fraction)
        if (tenths > told) onProgress(`Loading ${name}: ${10 * tenths} %`)
        told = Math.max(told, tenths)
      })
      if (this.#slots.state() === 'closing') {
        // Nobody else knows of this one, and no further one is wanted.
        await opened.close()
        throw new OiError('ERR_ENGINE_CLOSED', 'The server is stopping')
      }
      slot.fill(new ServedModel(opened), performance.now() - startMs)
      return slot
    } catch (error) {
      slot.fail(error)
      throw error
    }
  }

  async #retire(slot: ModelSlot, onProgress: OnProgress): Promise<void> {
    const { served } = slot
    if (served === undefined) return
    this.#slots.leave(slot)
    const { underWay } = served
    const requests = underWay === 1 ? '1 request' : `${underWay} requests`
    if (underWay > 0) onProgress(`${served.card.name}: the old one finishes ${requests}`)
    await served.retire()
    this.#slots.forget(slot)
  }

  #announce(slot: ModelSlot): void {
    const { startLine, warning } = slot.served!.opened
    this.#options.say(`${startLine}\n${warning === undefined ? '' : `${warning}\n`}`)
  }

  /** Rule 1. */
  #inTurn<T>(task: () => Promise<T>, onProgress: OnProgress = () => {}): Promise<T> {
    const whenReady = () => {
      if (this.#slots.state() === 'ready') return task()
      throw new OiError('ERR_OVERLOADED', 'The server is stopping')
    }
    return this.#turns.run(whenReady, () => onProgress('Waiting for other models'))
  }
}

/** The same model without its part for requests that name none. */
function withoutRole(planned: PlannedModel): PlannedModel {
  return { ...planned, asked: { ...planned.asked, default: false } }
}

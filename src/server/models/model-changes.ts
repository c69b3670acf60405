/**
 * Loads, unloads and reloads the models of a running server.
 *
 * Rules
 *   1. One change after another, so that each loading model has the cores, the disk and the memory
 *      to itself.
 *   2. A model is reloaded beside the old one, which answers meanwhile. Only if memory does not
 *      allow that, or the old one is unfit to answer, it ends first, and requests are refused with
 *      503 until the new one is ready.
 *   3. A failure leaves all models as they were, except for a model whose predecessor had to end
 *      first; it can be loaded again, or unloaded.
 *
 * @module
 */

import type { OnProgress } from '../../admin/socket/operations.js'
import { counted } from '../../api/words.js'
import type { ModelConfig } from '../../config.js'
import { requireDistinctNames } from '../../decide/model-names.js'
import { availableMemory } from '../../engine/machine.js'
import { OiError } from '../../errors.js'
import { processUsage } from '../../runner/process-usage.js'
import type { OpenedModel } from '../../opening/opened-model.js'
import { fillSlot } from './fill-slot.js'
import { InTurn } from '../../in-turn.js'
import { ModelSlot, type SlotStatus } from './model-slot.js'
import type { ModelSlots } from './model-slots.js'
import { type Kept, openFirst, type OpenFirstOptions } from './open-first.js'
import { claimOf, planBeside, type PlannedModel } from './plan-models.js'

interface ModelChangesOptions extends Omit<OpenFirstOptions, 'availableBytes'> {
  /** Memory that this process could still allocate, bytes. Default: as the system says. */
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

  /** Opens the first models. As {@link openFirst}. */
  open(models: readonly ModelConfig[], kept?: Kept): Promise<readonly OpenedModel[]> {
    return this.#turns.run(() => {
      const none = { models: [], onLeftOut: () => {} }
      const availableBytes = () => this.#availableBytes()
      return openFirst(models, kept ?? none, { ...this.#options, availableBytes })
    })
  }

  /**
   * Opens one more model.
   *
   * @param asked - Its settings. If they make it the default model, it replaces the present
   *   default.
   * @throws {@link OiError} What opening it throws; `ERR_CONFIG` if its names are taken,
   *   `ERR_MODEL_MEMORY` if it does not fit beside the others.
   */
  add(asked: ModelConfig, onProgress: OnProgress): Promise<SlotStatus> {
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
   * Removes a model, and waits until it has answered its requests.
   *
   * @param name - Any of its names.
   * @returns Its last status.
   * @throws {@link OiError} `ERR_NOT_FOUND`; `ERR_INVALID_ARGUMENT` for the default model.
   */
  remove(name: string, onProgress: OnProgress): Promise<SlotStatus> {
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
   * Reopens a model: rules 2 and 3.
   *
   * @param name - Any of its names.
   * @param asked - Its settings. Default: unchanged.
   * @throws {@link OiError} As {@link add}; `ERR_NOT_FOUND`.
   */
  replace(name: string, onProgress: OnProgress, asked?: ModelConfig): Promise<SlotStatus> {
    return this.#inTurn(async () => {
      const slot = this.#slots.find(name)
      await this.#replace(slot, asked ?? slot.planned.asked, onProgress)
      return slot.status()[0]!
    }, onProgress)
  }

  /**
   * Applies settings to all models, reads their readouts and calibrations again, and sets their
   * order. Opens no model.
   *
   * @param asked - Settings by model name, the default model's first. Models without an entry stay
   *   unchanged, behind the others.
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
    const isUnfit = slot.served?.unfit !== undefined
    const beside = isUnfit
      ? undefined
      : await this.#plan(asked, named, held).catch((error: unknown) => {
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
    const why = isUnfit ? `${name} is unfit to answer` : `Memory does not hold two of ${name}`
    onProgress(`${why}: requests to it are refused meanwhile`)
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

  /** Memory for all models together, with those that are loaded. */
  #availableBytes(): number {
    const pids = this.#slots.status().flatMap(({ processes }) => processes.map(({ pid }) => pid))
    const heldBytes = [...new Set(pids)].map((pid) => processUsage(pid)?.ownBytes ?? 0)
    const { availableBytes = availableMemory } = this.#options
    return heldBytes.reduce((sum, bytes) => sum + bytes, availableBytes())
  }

  #fill(slot: ModelSlot, what: string, onProgress: OnProgress): Promise<void> {
    return fillSlot(slot, what, this.#options, onProgress)
  }

  async #retire(slot: ModelSlot, onProgress: OnProgress): Promise<void> {
    const { served } = slot
    if (served === undefined) return
    this.#slots.leave(slot)
    const { underWay } = served
    const requests = counted(underWay, 'request')
    if (underWay > 0) onProgress(`${served.card.name}: the old model finishes ${requests}`)
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

/** The same model, but not as the default. */
function withoutRole(planned: PlannedModel): PlannedModel {
  return { ...planned, asked: { ...planned.asked, default: false } }
}

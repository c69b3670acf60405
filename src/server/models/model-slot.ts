/**
 * The slot of one model of a server: the model that answers under its names, and the one that is
 * loading to replace it.
 *
 * @module
 */

import type { ModelStatus } from '../../admin/socket/operations.js'
import type { ModelConfig } from '../../config.js'
import type { Decider, EngineReport, ModelCard } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import type { FilesSeen } from '../../models/model-files.js'
import type { SupervisedEngine } from '../../runner/supervised-engine.js'
import type { RunnerReport } from '../../runner/supervision.js'
import type { PlannedModel } from './plan-models.js'
import type { ServedModel } from './served-model.js'

/** Time until a retry if no estimate exists, milliseconds. */
const failedRetryMs = 60_000

/** What a slot knows of its model. */
export type SlotStatus = Omit<ModelStatus, 'origin'>

export class ModelSlot {
  planned: PlannedModel
  /** Undefined while no model answers here. */
  served: ServedModel | undefined
  /** The loaded fraction, 0 to 1. */
  loaded = 0
  /** The files that it was opened from, or that could not be opened, as they were before. */
  openedFrom: FilesSeen | undefined
  /** The slot that is loading to replace it. */
  next: ModelSlot | undefined
  #card: ModelCard | undefined
  #loadMs = 0
  #sinceMs = Date.now()
  #isLeaving = false
  #reason: string | undefined

  constructor(planned: PlannedModel) {
    this.planned = planned
  }

  /** The card of the model, or of the last one here. */
  get card(): ModelCard {
    return (this.#card = this.served?.card ?? this.#card!)
  }

  get decider(): Decider {
    return this.served ?? this.#refusing(this.card)
  }

  fill(served: ServedModel): void {
    this.served = served
    this.#loadMs = served.loadMs
    this.#reason = undefined
  }

  fail(error: unknown): void {
    this.#reason = (error as Error).message
    this.#sinceMs = Date.now()
  }

  leave(): void {
    this.#isLeaving = true
    this.#sinceMs = Date.now()
  }

  /** Takes the model of `next`. @returns The old model. */
  give(next: ModelSlot): ModelSlot {
    const old = new ModelSlot(this.planned)
    old.served = this.served
    old.#card = this.#card = this.card
    this.planned = next.planned
    this.served = next.served
    this.loaded = next.loaded
    this.openedFrom = next.openedFrom
    this.#sinceMs = next.#sinceMs
    this.#reason = undefined
    // The best guess for a model that is still to load.
    this.#loadMs = next.#loadMs || this.#loadMs
    return old
  }

  /** As {@link OpenedModel.prepare}. */
  async prepare(asked: ModelConfig): Promise<() => void> {
    const commit = await this.served?.opened.prepare(asked)
    return () => {
      commit?.()
      const { hostCacheMb } = this.planned.config
      this.planned = { ...this.planned, asked, config: { ...asked, hostCacheMb } }
    }
  }

  /** Reports on the processes of the model here; while there is none, on the missing one. */
  runners(): readonly RunnerReport[] {
    const { name: model } = this.planned
    const unfit = this.served?.unfit
    if (this.served !== undefined && unfit === undefined) {
      return runnerReports(model, this.served.opened.runners ?? [])
    }
    const retryAfterMs = this.#retryAfterMs
    const missing = {
      ...{ model, ready: false, retryAfterMs, pid: undefined, usage: () => undefined },
      reason: unfit?.reason,
    }
    return [{ ...missing, ends: {}, restarts: 0, askedAgain: 0, gaveUp: 0 }]
  }

  /** The status of the model here, and of the one that is loading to replace it. */
  status(): readonly SlotStatus[] {
    const { asked, name } = this.planned
    const { served } = this
    const runners = served?.opened.runners ?? []
    const counts = runners.map((runner) => runner.counts())
    const ends: Record<string, number> = {}
    for (const [cause, times] of counts.flatMap((one) => Object.entries(one.ends))) {
      ends[cause] = (ends[cause] ?? 0) + times
    }
    const own: SlotStatus = {
      model: served?.card.name ?? name,
      aliases: asked.aliases ?? [],
      default: asked.default ?? true,
      file: asked.file,
      state: this.#state(),
      loaded: this.#state() === 'loading' ? this.loaded : undefined,
      reason: served?.unfit?.message ?? this.#reason,
      processes: served?.processes() ?? [],
      sinceMs: this.#isLeaving ? this.#sinceMs : (served?.readyMs ?? this.#sinceMs),
      ends,
      askedAgain: counts.reduce((sum, { askedAgain }) => sum + askedAgain, 0),
      gaveUp: counts.reduce((sum, { gaveUp }) => sum + gaveUp, 0),
      underWay: served?.underWay ?? 0,
      device: served?.opened.device,
    }
    return [own, ...(this.next?.status() ?? [])]
  }

  #state(): ModelStatus['state'] {
    if (this.#isLeaving) return 'draining'
    if (this.served?.unfit !== undefined) return 'failed'
    if (this.served !== undefined) return this.served.ready ? 'ready' : 'no process'
    return this.#reason === undefined ? 'loading' : 'failed'
  }

  /** For the time while no model answers here. */
  get #retryAfterMs(): number {
    return this.#reason === undefined ? Math.max(1, this.#loadMs) : failedRetryMs
  }

  /** Refuses requests for a model that is not loaded. */
  #refusing(card: ModelCard): Decider {
    return {
      models: [card],
      decide: () => {
        const how = this.#reason === undefined ? 'is being loaded' : 'could not be loaded'
        const retryAfterMs = this.#retryAfterMs
        const message = `The model ${card.name} ${how}`
        return Promise.reject(new OiError('ERR_OVERLOADED', message, { retryAfterMs }))
      },
      engines: (): readonly EngineReport[] => [],
    }
  }
}

/** Reports on the processes of a model. @param runners - One for each replica. */
function runnerReports(
  model: string,
  runners: readonly SupervisedEngine[],
): readonly RunnerReport[] {
  const reports = runners.map((runner) => runner.report(model))
  return reports.length === 1 ? reports : reports.map((report, replica) => ({ ...report, replica }))
}

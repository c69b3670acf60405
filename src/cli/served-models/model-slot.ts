/**
 * The place of one model among those of a server: what answers under its names, and what is on its
 * way to do so.
 *
 * @module
 */

import type { ModelStatus } from '../../admin/operations.js'
import type { ModelConfig } from '../../config.js'
import type { Decider, EngineReport, ModelCard } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import type { SupervisedEngine } from '../../runner/supervised-engine.js'
import type { RunnerReport } from '../../runner/supervision.js'
import type { PlannedModel } from './plan-models.js'
import type { ServedModel } from './served-model.js'

/** When to try again where nobody knows, milliseconds. */
const failedRetryMs = 60_000

export class ModelSlot {
  planned: PlannedModel
  /** Undefined while nothing answers here. */
  served: ServedModel | undefined
  /** What of it has been loaded, 0 to 1. */
  loaded = 0
  /** That which is loaded beside it, to take its place. */
  next: ModelSlot | undefined
  #card: ModelCard | undefined
  #loadMs = 0
  #sinceMs = Date.now()
  #isLeaving = false
  #reason: string | undefined

  constructor(planned: PlannedModel) {
    this.planned = planned
  }

  /** What is known of the model, or was of the last one here. */
  get card(): ModelCard {
    return (this.#card = this.served?.card ?? this.#card!)
  }

  get decider(): Decider {
    return this.served ?? this.#refusing(this.card)
  }

  /** @param loadMs - How long it took. */
  fill(served: ServedModel, loadMs: number): void {
    this.served = served
    this.#loadMs = loadMs
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

  /** Takes what is in `next`. @returns What was here. */
  give(next: ModelSlot): ModelSlot {
    const old = new ModelSlot(this.planned)
    old.served = this.served
    old.#card = this.#card = this.card
    this.planned = next.planned
    this.served = next.served
    this.loaded = next.loaded
    this.#sinceMs = next.#sinceMs
    this.#reason = undefined
    // Of one that is still to be loaded, the best guess.
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

  /** Of the processes of what answers here; while nothing does, of the one that is missing. */
  runners(): readonly RunnerReport[] {
    const { name: model } = this.planned
    if (this.served !== undefined) {
      return runnerReports(model, this.served.opened.runners ?? [])
    }
    const retryAfterMs = this.#retryAfterMs
    const missing = { model, ready: false, retryAfterMs, pid: undefined, usage: () => undefined }
    return [{ ...missing, ends: {}, restarts: 0, askedAgain: 0, gaveUp: 0 }]
  }

  /** Of what answers here, and of what is loaded to take its place. */
  status(): readonly ModelStatus[] {
    const { asked, name } = this.planned
    const { served } = this
    const runners = served?.opened.runners ?? []
    const counts = runners.map((runner) => runner.counts())
    const ends: Record<string, number> = {}
    for (const [cause, times] of counts.flatMap((one) => Object.entries(one.ends))) {
      ends[cause] = (ends[cause] ?? 0) + times
    }
    const own: ModelStatus = {
      model: served?.card.name ?? name,
      aliases: asked.aliases ?? [],
      default: asked.default ?? true,
      file: asked.file,
      state: this.#state(),
      loaded: this.#state() === 'loading' ? this.loaded : undefined,
      reason: this.#reason,
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
    if (this.served !== undefined) return this.served.ready ? 'ready' : 'no process'
    return this.#reason === undefined ? 'loading' : 'failed'
  }

  /** While nothing answers here. */
  get #retryAfterMs(): number {
    return this.#reason === undefined ? Math.max(1, this.#loadMs) : failedRetryMs
  }

  /** For the names of a model that is not there. */
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

/** How the processes of a model stand. @param runners - Of each of its replicas. */
function runnerReports(
  model: string,
  runners: readonly SupervisedEngine[],
): readonly RunnerReport[] {
  const reports = runners.map((runner) => runner.report(model))
  return reports.length === 1 ? reports : reports.map((report, replica) => ({ ...report, replica }))
}

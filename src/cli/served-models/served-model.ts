/**
 * A model that answers, and what is under way in it.
 *
 * @module
 */

import type {
  Decided,
  DecideOptions,
  Decider,
  DecideRequest,
  EngineReport,
  ModelCard,
} from '../../decide/types.js'
import type { ProcessStatus } from '../../admin/operations.js'
import { processUsage } from '../../runner/process-usage.js'
import type { OpenedModel } from '../dependencies.js'

export class ServedModel implements Decider {
  readonly opened: OpenedModel
  /** When it could answer first, ms since 1970. */
  readonly readyMs = Date.now()
  #underWay = 0
  #onIdle: (() => void) | undefined

  constructor(opened: OpenedModel) {
    this.opened = opened
  }

  /** Of one model: its card. */
  get models(): readonly ModelCard[] {
    return this.opened.decider.models
  }

  get card(): ModelCard {
    return this.models[0]!
  }

  /** Requests that it has not answered yet. */
  get underWay(): number {
    return this.#underWay
  }

  async decide(request: DecideRequest, options?: DecideOptions): Promise<Decided> {
    this.#underWay++
    try {
      return await this.opened.decider.decide(request, options)
    } finally {
      if (--this.#underWay === 0) this.#onIdle?.()
    }
  }

  engines(): readonly EngineReport[] {
    return this.opened.decider.engines()
  }

  /** Whether anything can answer: of several processes, one will do. */
  get ready(): boolean {
    const { runners = [] } = this.opened
    return runners.length === 0 || runners.some((runner) => runner.ready)
  }

  /** Those in which it runs; the server's own, if it has none of its own. */
  processes(): readonly ProcessStatus[] {
    const { runners = [] } = this.opened
    const pids =
      runners.length === 0
        ? [process.pid]
        : runners.flatMap(({ ready, pid }) => (ready && pid !== undefined ? [pid] : []))
    return pids.map((pid) => ({ pid, residentBytes: processUsage(pid)?.residentBytes }))
  }

  /** Waits for what is under way, of which nothing may be added any more, and closes it. */
  async retire(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
    await this.opened.close()
  }
}

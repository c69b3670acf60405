/**
 * A loaded model and its running requests.
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
  /** When it became ready, ms since 1970. */
  readonly readyMs = Date.now()
  #underWay = 0
  #onIdle: (() => void) | undefined

  constructor(opened: OpenedModel) {
    this.opened = opened
  }

  /** The card of its one model. */
  get models(): readonly ModelCard[] {
    return this.opened.decider.models
  }

  get card(): ModelCard {
    return this.models[0]!
  }

  /** The number of its unanswered requests. */
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

  /** Whether at least one of its processes can answer. */
  get ready(): boolean {
    const { runners = [] } = this.opened
    return runners.length === 0 || runners.some((runner) => runner.ready)
  }

  /** Its processes; the server's own, if it has none. */
  processes(): readonly ProcessStatus[] {
    const { runners = [] } = this.opened
    const pids =
      runners.length === 0
        ? [process.pid]
        : runners.flatMap(({ ready, pid }) => (ready && pid !== undefined ? [pid] : []))
    return pids.map((pid) => ({ pid, residentBytes: processUsage(pid)?.residentBytes }))
  }

  /** Waits for running requests, and closes it. No request may be added any more. */
  async retire(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
    await this.opened.close()
  }
}

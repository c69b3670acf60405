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
import type { ProcessStatus } from '../../admin/socket/operations.js'
import { OiError } from '../../errors.js'
import { Running } from '../../running.js'
import { processUsage } from '../../runner/process-usage.js'
import type { OpenedModel } from '../../opening/opened-model.js'

/** How often a model that is left is looked at, milliseconds. */
const retiringLookMs = 100

/** Why a model must not be asked. */
interface Unfit {
  /** For anybody. */
  readonly reason: string
  /** For the operator. */
  readonly message: string
}

export class ServedModel implements Decider {
  readonly opened: OpenedModel
  /** How long it took to load, milliseconds. */
  readonly loadMs: number
  readonly #isChanged: () => Promise<boolean>
  /** While this is set, requests are refused, also those that are under way. */
  unfit: Unfit | undefined
  /** When it became ready, ms since 1970. */
  readonly readyMs = Date.now()
  readonly #underWay = new Running<DecideRequest>()

  /**
   * @param loadMs - How long it took to load.
   * @param isChanged - Whether its files are no longer those that it was opened from.
   */
  constructor(opened: OpenedModel, loadMs: number, isChanged: () => Promise<boolean>) {
    this.opened = opened
    this.loadMs = loadMs
    this.#isChanged = isChanged
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
    return this.#underWay.size
  }

  async decide(request: DecideRequest, options?: DecideOptions): Promise<Decided> {
    this.#requireFit()
    const place = this.#underWay.add(request)
    try {
      const decided = await this.opened.decider.decide(request, options)
      this.#requireFit()
      return decided
    } catch (error) {
      this.#requireFit()
      // It may be the first to see that.
      if (isFault(error) && (await this.#isChanged())) throw this.#refusal('its file has changed')
      throw error
    } finally {
      place.leave()
    }
  }

  engines(): readonly EngineReport[] {
    return this.opened.decider.engines()
  }

  #requireFit(): void {
    if (this.unfit !== undefined) throw this.#refusal(this.unfit.reason)
  }

  #refusal(reason: string): OiError {
    const message = `The model ${this.card.name} is being loaded again: ${reason}`
    return new OiError('ERR_OVERLOADED', message, { retryAfterMs: Math.max(1, this.loadMs) })
  }

  /** Whether at least one of its processes can answer. */
  get ready(): boolean {
    if (this.unfit !== undefined) return false
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

  /**
   * Waits for running requests while it can answer them, and closes it, which refuses the others. No
   * request may be added any more.
   */
  async retire(): Promise<void> {
    // Its process may not come back, as when its file has become another one.
    while (this.underWay > 0 && this.ready) await this.#underWay.drain(retiringLookMs)
    await this.opened.close()
  }
}

const isFault = (error: unknown) => error instanceof OiError && error.code === 'ERR_ENGINE_INTERNAL'

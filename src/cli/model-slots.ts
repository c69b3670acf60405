/**
 * The server's models, which may still be on their way.
 *
 * @module
 */

import { Router } from '../decide/router.js'
import type { Decider } from '../decide/types.js'
import { OiError } from '../errors.js'
import type { Backend } from '../http/handlers.js'
import { runnerReports } from '../runner/reports.js'
import type { RunnerReport } from '../runner/supervision.js'
import type { OpenedModel } from './dependencies.js'

export class ModelSlots implements Backend {
  #state: ReturnType<Backend['state']> = 'loading'
  readonly #models: OpenedModel[] = []
  #decider: Decider | undefined

  state() {
    return this.#state
  }

  decider() {
    return this.#decider
  }

  runners(): readonly RunnerReport[] {
    return this.#models.flatMap(({ decider, runners = [] }) =>
      runnerReports(decider.models[0]!.name, runners),
    )
  }

  /**
   * Opens one model after another, so that each finds the cores and the disk to itself.
   *
   * @param openers - At least one; the default model's first.
   * @returns The models, ready to answer.
   */
  async open(openers: readonly (() => Promise<OpenedModel>)[]): Promise<readonly OpenedModel[]> {
    try {
      for (const open of openers) {
        const model = await open()
        if (this.#state !== 'loading') {
          // Closed meanwhile: nobody else knows of this one, and no further one is wanted.
          await model.close()
          throw new OiError('ERR_ENGINE_CLOSED', 'The server is stopping')
        }
        this.#models.push(model)
      }
      this.#decider = new Router(this.#models.map(({ decider }) => decider))
      this.#state = 'ready'
      return this.#models
    } catch (error) {
      if (this.#state === 'loading') this.#state = 'failed'
      throw error
    }
  }

  /** Waits for the models' own end, but not for one that is still being loaded. */
  async close(): Promise<void> {
    this.#state = 'closing'
    await Promise.all(this.#models.map((model) => model.close()))
  }
}

/**
 * A model that answers, and the two functions that commands and the server open it with: tests give
 * them a model that needs no file.
 *
 * @module
 */

import type { ModelConfig } from '../config.js'
import type { Decider } from '../decide/types.js'
import type { MemoryNeed } from '../models/memory-plan.js'
import type { SupervisedEngine } from '../runner/supervised-engine.js'
import type { SupervisorEvents } from '../runner/supervision.js'
import type { Temperature } from '../scoring/types.js'

export interface OpenedModel {
  readonly decider: Decider
  /** Its device, as `CPU`. */
  readonly device: string
  /** One line for people: the model and its device. */
  readonly startLine: string
  /** A warning about its answers. */
  readonly warning: string | undefined
  /** The readout's own temperatures, on top of which a calibration is applied. */
  readonly temperatures?: readonly Temperature[] | undefined
  /** Its engines in processes of their own: none for a model in this process. */
  readonly runners?: readonly SupervisedEngine[] | undefined
  /**
   * Reads readout and calibration again, and prepares to answer by these settings. The engine
   * (file, context, threads, …) does not change.
   *
   * @returns A function that applies them, from the next request on.
   * @throws The errors of readout and calibration that opening has.
   */
  prepare(model: ModelConfig): Promise<() => void>
  close(): Promise<void>
}

interface OpenModelOptions {
  /** Called with the loaded fraction, 0 to 1. */
  readonly onProgress: (fraction: number) => void
  /** Runs the model in a process of its own, and gets its events. Default: in this process. */
  readonly isolate?: SupervisorEvents | undefined
}

export type OpenModel = (model: ModelConfig, options: OpenModelOptions) => Promise<OpenedModel>

/**
 * Name and memory of a model, without loading it. Refuses a readout that does not fit.
 *
 * @param isolate - Whether its header is read in a process of its own, as the model will run in
 *   one: opening it then finds out whether it can be loaded. Else it is tried in one before.
 */
export type SurveyModel = (model: ModelConfig, isolate: boolean) => Promise<MemoryNeed>

/**
 * What the commands are given instead of reaching for it: tests run the same commands over a
 * model that needs no file.
 *
 * @module
 */

import type { Config, ModelConfig } from '../config.js'
import type { Decider } from '../decide/types.js'
import type { Wire } from '../http/exchange/wire.js'
import type { MemoryNeed } from '../models/memory-plan.js'
import type { Temperature } from '../prompt/temperatures.js'
import type { SupervisedEngine } from '../runner/supervised-engine.js'
import type { SupervisorEvents } from '../runner/supervision.js'

export interface OpenedModel {
  readonly decider: Decider
  /** Where it runs, as `CPU`. */
  readonly device: string
  /** One line for people: which model runs where. */
  readonly startLine: string
  /** What must be known before its answers are believed. */
  readonly warning: string | undefined
  /** Temperatures of its readout's own, which come before those of a calibration. */
  readonly temperatures?: readonly Temperature[] | undefined
  /** Those that run in a process of their own: none for a model in this process. */
  readonly runners?: readonly SupervisedEngine[] | undefined
  /**
   * Reads readout and calibration again, and makes ready to answer by these settings. What is of the
   * engine (the file, its context, threads, …) stays as it is.
   *
   * @returns What has it do so, from the next request on.
   * @throws What opening it would, of readout and calibration.
   */
  prepare(model: ModelConfig): Promise<() => void>
  close(): Promise<void>
}

export interface OpenModelOptions {
  /** Told how much has been loaded, 0 to 1. */
  readonly onProgress: (fraction: number) => void
  /** Has the model in a process of its own, and is told of its ends. Default: in this process. */
  readonly isolate?: SupervisorEvents | undefined
}

export type OpenModel = (model: ModelConfig, options: OpenModelOptions) => Promise<OpenedModel>

/**
 * Name and memory of a model, without loading it. Refuses a readout that does not fit it.
 *
 * @param isolate - Whether its header is read in a process of its own. What cannot be loaded is
 *   known only when it is opened then; else it is tried first.
 */
export type SurveyModel = (model: ModelConfig, isolate: boolean) => Promise<MemoryNeed>

/** As `process.env`. */
export type Environment = Record<string, string | undefined>

export interface Dependencies {
  readonly openModel: OpenModel
  readonly surveyModel: SurveyModel
  readonly createWire: (config: Config) => Wire
  readonly environment: Environment
  /** Ends the process at once. */
  readonly exit: (code: number) => void
}

/** How the process ends. Usage: a wrong command, flag, variable or setting. */
export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const

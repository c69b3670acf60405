/**
 * What the commands are given instead of reaching for it: tests run the same commands over a
 * model that needs no file.
 *
 * @module
 */

import type { Config, ModelConfig } from '../config.js'
import type { Decider } from '../decide/types.js'
import type { Wire } from '../http/post-exchange.js'
import type { MemoryNeed } from '../models/memory-plan.js'
import type { Temperature } from '../prompt/temperatures.js'

export interface OpenedModel {
  readonly decider: Decider
  /** One line for people: which model runs where. */
  readonly startLine: string
  /** What must be known before its answers are believed. */
  readonly warning: string | undefined
  /** Temperatures of its readout's own, which come before those of a calibration. */
  readonly temperatures?: readonly Temperature[] | undefined
  close(): Promise<void>
}

/** @param onProgress - Told how much has been loaded, 0 to 1. */
export type OpenModel = (
  model: ModelConfig,
  onProgress: (fraction: number) => void,
) => Promise<OpenedModel>

/** Name and memory of a model, without loading it. Refuses a readout that does not fit it. */
export type SurveyModel = (model: ModelConfig) => Promise<MemoryNeed>

export interface Dependencies {
  readonly openModel: OpenModel
  readonly surveyModel: SurveyModel
  readonly createWire: (config: Config) => Wire
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Ends the process at once. */
  readonly exit: (code: number) => void
}

/** How the process ends. Usage: a wrong command, flag, variable or setting. */
export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const

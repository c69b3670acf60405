/**
 * What a command or a server gets from the process: tests run the same code with others.
 *
 * @module
 */

import type { Config } from '../config.js'
import type { Wire } from '../http/requests/wire.js'
import type { OpenModel, SurveyModel } from '../opening/opened-model.js'

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

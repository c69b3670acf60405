/**
 * Public exports of `oi-systemone`.
 *
 * @module
 */

export { open, type OpenOptions } from './open.js'
export { Oi } from './oi.js'
export { openAll, OiGroup } from './open-all.js'
export { OiError, errorTable, type ErrorCode, type ErrorDetails } from './errors.js'
export { parseJson, stringifyJson, type Json, type JsonObject } from './api/json.js'
export type {
  Answer,
  ChoiceAnswer,
  ChoiceQuestion,
  DecideOptions,
  DecideRequest,
  Decision,
  EngineReport,
  Evidence,
  ModelCard,
  NoulAnswer,
  NoulQuestion,
  Orders,
  Question,
  ScoreAnswer,
  ScoreQuestion,
  Timings,
  Usage,
} from './decide/types.js'
export type {
  Cancellation,
  EngineStats,
  ModelInfo,
  PromptPart,
  ScoreInput,
  ScoreOptions,
  ScoreOutput,
  Suffix,
} from './engine/types.js'

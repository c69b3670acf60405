/**
 * Public exports of `oi-systemone`.
 *
 * @module
 */

export { open, Oi, type OpenOptions } from './open.js'
export { OiError, errorTable, type ErrorCode, type ErrorDetails } from './errors.js'
export { parseJson, stringifyJson, type Json, type JsonObject } from './api/json.js'
export type {
  Answer,
  ChoiceAnswer,
  ChoiceQuestion,
  DecideOptions,
  DecideRequest,
  Decision,
  Evidence,
  ModelCard,
  NoulAnswer,
  NoulQuestion,
  Question,
  ScoreAnswer,
  ScoreQuestion,
  Timings,
  Usage,
} from './decide/types.js'
export type {
  Cancellation,
  ModelInfo,
  PromptPart,
  ScoreInput,
  ScoreOptions,
  ScoreOutput,
  Suffix,
} from './engine/types.js'

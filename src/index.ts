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
  AnswerOf,
  AnswersOf,
  AskRequest as DecideRequest,
  ChoiceQuestion,
  DecisionOn as Decision,
  JsonInput,
  NamedChoiceAnswer,
  NoulQuestion,
  Question,
  Questions,
  ScoreQuestion,
} from './decide/asked-types.js'
export type {
  Answer,
  ChoiceAnswer,
  DecideOptions,
  EngineReport,
  Evidence,
  ModelCard,
  NoulAnswer,
  Orders,
  ScoreAnswer,
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

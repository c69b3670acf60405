/**
 * Public exports of `oi-systemone/client`.
 *
 * @module
 */

export { type Client, createClient } from './client.js'
export type { ClientOptions, Fetch } from './options.js'
export {
  type ClientCode,
  OiRequestError,
  type RequestErrorDetails,
  type ServerCode,
} from './errors.js'
export type { BatchStream } from './batch-stream.js'
export type { Pictures } from './pictures.js'
export {
  image,
  type ImageBlock,
  imageFromBlob,
  type ImageMediaType,
  type ImageOptions,
} from './image.js'
export type {
  AnswerOf,
  AnswersOf,
  BatchAnswered,
  BatchItem,
  BatchOfStates,
  BatchRefused,
  BatchReply,
  BatchRequest,
  BatchTotals,
  CallOptions,
  ChoiceQuestion,
  DecideOptions,
  DecideReply,
  DecideRequest,
  Decision,
  ItemOf,
  ItemsOf,
  JsonInput,
  ModelCard,
  NamedChoiceAnswer,
  NoulQuestion,
  Orders,
  PictureOptions,
  Question,
  Questions,
  ScoreQuestion,
  Usage,
} from './types.js'
export type { UsageOfDay, UsageReport } from './usage-report.js'

/**
 * The schemas that are checked, compiled once.
 *
 * `Check` runs on the hot path, `Errors` only after it failed. Nothing is coerced, and
 * unknown fields are ignored. A schema says what has the wrong shape (422); what has the right
 * shape and is still not acceptable (400) is decided in read-request.ts.
 *
 * @module
 */

import { Compile } from 'typebox/compile'
import { ResponseSchema } from './answer-schemas.js'
import {
  BatchItemSchema,
  BatchRequestSchema,
  BatchResponseSchema,
  BatchTotalsSchema,
} from './batch-schemas.js'
import { ErrorSchema } from './error-schema.js'
import { ModelsSchema } from './model-schemas.js'
import {
  ChoiceQuestionSchema,
  NoulQuestionSchema,
  QuestionSchema,
  RequestSchema,
  ScoreQuestionSchema,
  StateSchema,
} from './request-schemas.js'
import { UsageReportSchema } from './usage-schema.js'

/** What each schema compiles to. */
export const validators = {
  state: Compile(StateSchema),
  request: Compile(RequestSchema),
  question: Compile(QuestionSchema),
  noul: Compile(NoulQuestionSchema),
  choice: Compile(ChoiceQuestionSchema),
  score: Compile(ScoreQuestionSchema),
  response: Compile(ResponseSchema),
  models: Compile(ModelsSchema),
  error: Compile(ErrorSchema),
  usage: Compile(UsageReportSchema),
  batchRequest: Compile(BatchRequestSchema),
  batchItem: Compile(BatchItemSchema),
  batchTotals: Compile(BatchTotalsSchema),
  batchResponse: Compile(BatchResponseSchema),
} as const

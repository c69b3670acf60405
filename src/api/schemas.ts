/**
 * The schemas used for checks, compiled once.
 *
 * `Check` runs on the hot path, `Errors` only after it failed. Nothing is coerced, and unknown
 * fields are ignored. A schema finds the wrong shape (422); read-request.ts finds values of the
 * right shape that are not acceptable (400).
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
import {
  ChoiceQuestionSchema,
  NoulQuestionSchema,
  QuestionSchema,
  RequestSchema,
  ScoreQuestionSchema,
  StateSchema,
} from './request-schemas.js'
import { UsageReportSchema } from './usage-schema.js'

/** The compiled schemas. */
export const validators = {
  state: Compile(StateSchema),
  request: Compile(RequestSchema),
  question: Compile(QuestionSchema),
  noul: Compile(NoulQuestionSchema),
  choice: Compile(ChoiceQuestionSchema),
  score: Compile(ScoreQuestionSchema),
  response: Compile(ResponseSchema),
  usage: Compile(UsageReportSchema),
  batchRequest: Compile(BatchRequestSchema),
  batchItem: Compile(BatchItemSchema),
  batchTotals: Compile(BatchTotalsSchema),
  batchResponse: Compile(BatchResponseSchema),
} as const

/**
 * The members that the objects of a body may have, from their schemas. Others are ignored.
 *
 * @module
 */

import { BatchRequestsSchema, BatchStatesSchema, NamedSchema } from './batch-schemas.js'
import { AssetSchema, imageMembers } from './image-schemas.js'
import {
  ChoiceQuestionSchema,
  NoulQuestionSchema,
  RequestSchema,
  ScoreQuestionSchema,
  SidesSchema,
} from './request-schemas.js'

const request = { ...RequestSchema.properties, ...imageMembers }

export const knownMembers = {
  request: Object.keys(request),
  /** Of a batch of requests. */
  item: Object.keys({ ...request, ...NamedSchema.properties }),
  requests: Object.keys(BatchRequestsSchema.properties),
  states: Object.keys(BatchStatesSchema.properties),
  /** Of every type of question. */
  question: Object.keys({
    ...NoulQuestionSchema.properties,
    ...ChoiceQuestionSchema.properties,
    ...ScoreQuestionSchema.properties,
  }),
  sides: Object.keys(SidesSchema.properties),
  asset: Object.keys(AssetSchema.properties),
  /** The members that hold images. */
  images: Object.keys(imageMembers),
} as const

/**
 * Request bodies, assembled: the server checks an envelope, then each question with the schema of
 * its type, and searches for images by itself. The document shows all of it together.
 *
 * @module
 */

import Type from 'typebox'
import { BatchRequestSchema, BatchRequestsSchema, BatchStatesSchema } from '../batch-schemas.js'
import { imageForms, imageMembers } from '../image-schemas.js'
import {
  ChoiceQuestionSchema,
  NoulQuestionSchema,
  QuestionsSchema,
  RequestSchema,
  ScoreQuestionSchema,
  StateSchema,
} from '../request-schemas.js'

const question = Type.Union([NoulQuestionSchema, ChoiceQuestionSchema, ScoreQuestionSchema], {
  title: 'Question',
})

/** To the validator images are plain objects; the document names their forms. */
const state = { ...StateSchema, anyOf: [...StateSchema.anyOf, ...imageForms] }

const questions = { ...QuestionsSchema, additionalProperties: question }

export const requestBody = {
  ...RequestSchema,
  properties: { ...RequestSchema.properties, state, questions, ...imageMembers },
}

const { requests } = BatchRequestsSchema.properties
const { states } = BatchStatesSchema.properties
const [, named] = requests.items.allOf

const batchedRequest = {
  ...requestBody,
  title: 'BatchedRequest',
  properties: { ...requestBody.properties, ...named.properties },
}

/** Either envelope. */
export const batchBody = {
  ...BatchRequestSchema,
  anyOf: [
    {
      ...BatchRequestsSchema,
      properties: {
        ...BatchRequestsSchema.properties,
        requests: { ...requests, items: batchedRequest },
      },
    },
    {
      ...BatchStatesSchema,
      properties: {
        ...BatchStatesSchema.properties,
        states: { ...states, items: state },
        questions,
      },
    },
  ],
}

/** A multipart body, by the schema of its JSON part. */
export const inParts = (request: object) => ({
  type: 'object',
  description:
    'One part is JSON: the part of type `application/json`, or else the only part without a ' +
    'file name; its name does not matter. The other parts are files that its `assets` name by `part`.',
  properties: { request },
  additionalProperties: { type: 'string', contentMediaType: 'application/octet-stream' },
})

/**
 * The wire types of `POST /v1/systemone/batch`.
 *
 * @module
 */

import Type from 'typebox'
import { ResponseSchema } from './answer-schemas.js'
import { ErrorSchema } from './error-schema.js'
import { mostItems } from './limits.js'
import { QuestionsSchema, RequestSchema, StateSchema } from './request-schemas.js'
import { count, named, objectOnly } from './schema-parts.js'

const itemCount = { minItems: 1, maxItems: mostItems }

const model = Type.Optional(
  Type.String({
    description: 'A name or alias of `GET /v1/models`, for requests that name no model.',
  }),
)

export const NamedSchema = Type.Object({
  id: Type.Optional(Type.String({ description: 'Returned with the result.' })),
})

export const BatchRequestsSchema = objectOnly(
  named(
    'BatchOfRequests',
    {
      requests: Type.Array(Type.Intersect([RequestSchema, NamedSchema]), itemCount),
      model,
    },
    { description: 'Independent requests.' },
  ),
)

export const BatchStatesSchema = objectOnly(
  named(
    'BatchOfStates',
    { states: Type.Array(StateSchema, itemCount), questions: QuestionsSchema, model },
    { description: 'The same questions about many states.' },
  ),
)

/** The body of a batch whose items are all valid; an invalid item does not fail the others. */
export const BatchRequestSchema = Type.Union([BatchRequestsSchema, BatchStatesSchema], {
  title: 'BatchRequest',
})

const index = count('Index of the request or state in the batch, from 0.')
const id = Type.Optional(Type.String({ description: "The request's own." }))

export const BatchAnsweredSchema = named('BatchAnswered', {
  index,
  id,
  status: Type.Literal(200),
  ...ResponseSchema.properties,
})

export const BatchFailedSchema = named('BatchFailed', {
  index,
  id,
  status: Type.Integer({
    minimum: 400,
    maximum: 599,
    description: 'The status that the request would have had on its own.',
  }),
  ...ErrorSchema.properties,
})

export const BatchItemSchema = Type.Union([BatchAnsweredSchema, BatchFailedSchema], {
  title: 'BatchItem',
})

export const BatchTotalsSchema = named(
  'BatchTotals',
  {
    usage: Type.Object(
      {
        input_tokens: count('Tokens of the states and the questions, images included.'),
        image_tokens: Type.Optional(count('Tokens of the images; absent without images.')),
        output_tokens: count('Tokens of the serialised answers.'),
      },
      { title: 'BatchUsage', description: 'The sums over all answered requests.' },
    ),
    latency_ms: Type.Number({
      minimum: 0,
      description: 'From the start of the first request to the last answer, milliseconds.',
    }),
  },
  { description: 'The last line of a batch as NDJSON.' },
)

export const BatchResponseSchema = named('BatchResponse', {
  results: Type.Array(BatchItemSchema, {
    ...itemCount,
    description: "In the batch's order.",
  }),
  ...BatchTotalsSchema.properties,
})

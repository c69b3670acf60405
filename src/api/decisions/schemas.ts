/**
 * The bodies of `POST /v1/decisions`, for the OpenAPI document. Requests are not validated with
 * these: read-decision.ts reads them, and names the errors.
 *
 * @module
 */

import Type from 'typebox'
import { EvidenceSchema } from '../answer-schemas.js'
import { mostOptions } from '../limits.js'
import { named } from '../schema-parts.js'

const TextPartSchema = named('InputText', { type: Type.Literal('input_text'), text: Type.String() })

const ImagePartSchema = named('InputPicture', {
  type: Type.Literal('input_image'),
  image_url: Type.String({
    pattern: '^data:image/',
    description: 'A data URL; remote addresses are refused.',
  }),
})

const JsonPartSchema = named('InputJson', {
  type: Type.Literal('input_json'),
  data: Type.Unknown(),
})

const inputParts = Type.Array(Type.Union([TextPartSchema, ImagePartSchema, JsonPartSchema]), {
  minItems: 1,
})

const MessageSchema = named('InputMessage', {
  type: Type.Optional(Type.Literal('message')),
  role: Type.Enum(['user', 'developer', 'system', 'assistant']),
  content: Type.Union([
    Type.String(),
    inputParts,
    Type.Array(
      Type.Union([
        Type.Object({ type: Type.Literal('output_text'), text: Type.String() }),
        Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() }),
      ]),
    ),
  ]),
})

const ToolCallSchema = named('ToolCall', {
  type: Type.Enum(['function_call', 'custom_tool_call']),
  call_id: Type.String(),
  name: Type.String(),
  arguments: Type.Optional(Type.String({ description: 'Arguments of a function.' })),
  input: Type.Optional(Type.String({ description: 'Input of a custom tool.' })),
})

const ToolOutputSchema = named('ToolOutput', {
  type: Type.Enum(['function_call_output', 'custom_tool_call_output']),
  call_id: Type.String(),
  output: Type.Union([Type.String(), inputParts]),
})

const asked = {
  name: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'Returned with its answer.' }),
  ),
  instructions: Type.Union([
    Type.String(),
    Type.Array(Type.Union([TextPartSchema, JsonPartSchema]), { minItems: 1 }),
  ]),
}

const value = Type.Union([Type.String(), Type.Boolean()])
const description = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const bounds = { minItems: 1, maxItems: mostOptions }

const PredicateSchema = named(
  'Predicate',
  { type: Type.Literal('predicate'), ...asked },
  { description: 'How likely it is that a statement is true.' },
)

const ChoiceSchema = named('Choice', {
  type: Type.Literal('choice'),
  ...asked,
  choices: Type.Array(Type.Object({ value, description }), {
    ...bounds,
    description: 'No repeated values; a text and a boolean are never equal.',
  }),
})

const ScoreSchema = named('Score', {
  type: Type.Literal('score'),
  ...asked,
  levels: Type.Array(Type.Object({ label: Type.String(), description }), {
    ...bounds,
    description: 'Lowest level first.',
  }),
})

export const DecisionsRequestSchema = named('DecisionsRequest', {
  model: Type.Optional(Type.String()),
  input: Type.Union([
    Type.String(),
    Type.Array(Type.Union([MessageSchema, ToolCallSchema, ToolOutputSchema]), { minItems: 1 }),
  ]),
  questions: Type.Array(Type.Union([PredicateSchema, ChoiceSchema, ScoreSchema]), {
    minItems: 1,
    description: "At most the model's `max_questions`.",
  }),
})

const probability = Type.Number({ minimum: 0, maximum: 1 })
const count = Type.Integer({ minimum: 0 })
const name = Type.Union([Type.String(), Type.Null()])
const evidence = Type.Optional(EvidenceSchema)

export const DecisionsResponseSchema = named('DecisionsResponse', {
  model: Type.String(),
  answers: Type.Array(
    Type.Union([
      Type.Object({ type: Type.Literal('predicate'), name, probability, evidence }),
      Type.Object({
        type: Type.Literal('choice'),
        name,
        choice: value,
        confidence: probability,
        probabilities: Type.Array(Type.Object({ value, probability })),
        evidence,
      }),
      Type.Object({
        type: Type.Literal('score'),
        name,
        score: Type.Number({ minimum: 0, description: 'The expected level, counted from 0.' }),
        confidence: probability,
        probabilities: Type.Array(Type.Object({ value: count, label: Type.String(), probability })),
        evidence,
      }),
    ]),
    { description: 'In the order of the questions.' },
  ),
  usage: Type.Object({
    input_tokens: count,
    input_tokens_details: Type.Object({ cached_tokens: count, cache_write_tokens: count }),
    output_tokens: count,
    output_tokens_details: Type.Object({ reasoning_tokens: count }),
    total_tokens: count,
  }),
})

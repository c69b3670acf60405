/**
 * The wire types: one schema each, compiled once.
 *
 * `Check` runs on the hot path, `Errors` only after it failed. Nothing is coerced, and
 * unknown fields are ignored. A schema says what has the wrong shape (422); what has the right
 * shape and is still not acceptable (400) is decided in read-request.ts.
 *
 * @module
 */

import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { RawNumber } from './json.js'

/** Options of a choice and levels of a score, at most, whatever the model could do. */
export const mostOptions = 255

const AnyJson = Type.Unknown()

/** To the schema compiler a {@link RawNumber} looks like an object; it never is one. */
function objectOnly<S extends Type.TSchema>(schema: S) {
  return Type.Refine(schema, (value: unknown) => !(value instanceof RawNumber))
}

// Questions

export const NoulQuestionSchema = Type.Object({
  type: Type.Literal('noul'),
  instructions: Type.Optional(AnyJson),
  criteria: Type.Optional(
    Type.Union([
      Type.Null(),
      objectOnly(Type.Object({ true: Type.Optional(AnyJson), false: Type.Optional(AnyJson) })),
    ]),
  ),
})

export const ChoiceQuestionSchema = Type.Object({
  type: Type.Literal('choice'),
  instructions: Type.Optional(AnyJson),
  criteria: objectOnly(
    Type.Object(
      {},
      { minProperties: 1, maxProperties: mostOptions, additionalProperties: AnyJson },
    ),
  ),
})

export const ScoreQuestionSchema = Type.Object({
  type: Type.Literal('score'),
  instructions: Type.Optional(AnyJson),
  criteria: Type.Array(AnyJson, { minItems: 1, maxItems: mostOptions }),
})

/** A question as far as its type does not matter. */
export const QuestionSchema = objectOnly(Type.Object({ type: Type.String() }))

// Requests

export const StateSchema = Type.Union([
  Type.String(),
  Type.Number(),
  Type.Boolean(),
  Type.Array(AnyJson),
  Type.Object({}),
])

/** A request body; its questions are checked one by one, each with the schema of its type. */
export const RequestSchema = objectOnly(
  Type.Object({
    state: StateSchema,
    questions: objectOnly(Type.Object({}, { minProperties: 1, additionalProperties: AnyJson })),
    model: Type.Optional(Type.String()),
  }),
)

// Answers

const Probability = Type.Number({ minimum: 0, maximum: 1 })
const Probabilities = Type.Object({}, { additionalProperties: Probability })
const Count = Type.Integer({ minimum: 0 })

export const EvidenceSchema = Type.Object({
  label_mass: Probability,
  logits: Type.Array(Type.Number()),
  temperature: Type.Number({ exclusiveMinimum: 0 }),
})

export const NoulAnswerSchema = Type.Object({
  type: Type.Literal('noul'),
  noul: Probability,
  evidence: Type.Optional(EvidenceSchema),
})

export const ChoiceAnswerSchema = Type.Object({
  type: Type.Literal('choice'),
  choice: Type.String(),
  probabilities: Probabilities,
  confidence: Probability,
  evidence: Type.Optional(EvidenceSchema),
})

export const ScoreAnswerSchema = Type.Object({
  type: Type.Literal('score'),
  score: Type.Number({ minimum: 0, maximum: mostOptions - 1 }),
  probabilities: Probabilities,
  legend: Type.Object({}, { additionalProperties: AnyJson }),
  confidence: Probability,
  evidence: Type.Optional(EvidenceSchema),
})

export const AnswerSchema = Type.Union([NoulAnswerSchema, ChoiceAnswerSchema, ScoreAnswerSchema])

export const UsageSchema = Type.Object({
  input_tokens: Count,
  image_tokens: Type.Optional(Count),
  output_tokens: Type.Integer({ minimum: 1 }),
  cached_tokens: Count,
})

export const ResponseSchema = Type.Object({
  model: Type.String(),
  answers: Type.Object({}, { minProperties: 1, additionalProperties: AnswerSchema }),
  usage: UsageSchema,
  latency_ms: Type.Number({ minimum: 0 }),
})

// Models and errors

export const ModelCardSchema = Type.Object({
  name: Type.String({ minLength: 1 }),
  description: Type.String(),
  release_date: Type.String(),
  aliases: Type.Array(Type.String()),
  default: Type.Boolean(),
  modalities: Type.Array(Type.String()),
  limits: Type.Object({
    max_options: Count,
    max_levels: Count,
    max_questions: Count,
    max_state_tokens: Count,
    max_images: Count,
    max_image_pixels: Count,
    max_batch: Count,
  }),
  digest: Type.String(),
  readout: Type.String(),
})

export const ModelsSchema = Type.Object({
  models: Type.Array(ModelCardSchema),
  object: Type.Literal('list'),
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      object: Type.Literal('model'),
      created: Type.Integer(),
      owned_by: Type.String(),
    }),
  ),
})

export const ErrorSchema = Type.Object({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    param: Type.Optional(Type.String()),
  }),
  detail: Type.String(),
})

/** What each schema compiles to. */
export const validators = {
  request: Compile(RequestSchema),
  question: Compile(QuestionSchema),
  noul: Compile(NoulQuestionSchema),
  choice: Compile(ChoiceQuestionSchema),
  score: Compile(ScoreQuestionSchema),
  response: Compile(ResponseSchema),
  models: Compile(ModelsSchema),
  error: Compile(ErrorSchema),
} as const

/**
 * The schemas of requests.
 *
 * The OpenAPI document shows titles and descriptions; validation does not read them. A schema with
 * a title is a component there, under that name.
 *
 * @module
 */

import Type from 'typebox'
import { mostOptions } from './limits.js'
import { mapOf, named, objectOnly } from './schema-parts.js'

const AnyJson = Type.Unknown()

// Questions

const instructions = Type.Optional(
  Type.Unknown({ description: 'The question itself: usually a string, but any JSON value.' }),
)

/** The meaning of a noul's two answers. */
export const SidesSchema = Type.Object(
  {
    true: Type.Optional(Type.Unknown({ description: 'What counts as yes.' })),
    false: Type.Optional(Type.Unknown({ description: 'What counts as no.' })),
  },
  { minProperties: 1 },
)

export const NoulQuestionSchema = Type.Object(
  {
    type: Type.Literal('noul'),
    instructions,
    criteria: Type.Optional(
      Type.Union([Type.Null(), objectOnly(SidesSchema)], {
        description: 'The meaning of the two answers; one of them may be omitted.',
      }),
    ),
  },
  {
    title: 'NoulQuestion',
    description: 'Yes or no. Without `instructions`, `criteria` must say something.',
  },
)

export const ChoiceQuestionSchema = named(
  'ChoiceQuestion',
  {
    type: Type.Literal('choice'),
    instructions,
    criteria: objectOnly(
      mapOf<unknown>({
        minProperties: 1,
        maxProperties: mostOptions,
        additionalProperties: true,
        description:
          'Option to description; `""` and `null` mean that the name needs no description. The order ' +
          'is kept.',
      }),
    ),
  },
  { description: 'One of some named options.' },
)

export const ScoreQuestionSchema = named(
  'ScoreQuestion',
  {
    type: Type.Literal('score'),
    instructions,
    criteria: Type.Array(Type.Unsafe<unknown>({ not: { type: 'null' } }), {
      minItems: 1,
      maxItems: mostOptions,
      description: 'What each level means, the lowest first; any JSON values but `null`.',
    }),
  },
  { description: 'A level on an ordered scale.' },
)

/** The part of a question that is common to all types. */
export const QuestionSchema = objectOnly(Type.Object({ type: Type.String() }))

// Requests

export const StateSchema = Type.Union(
  [Type.String(), Type.Number(), Type.Boolean(), Type.Array(AnyJson), Type.Object({})],
  { title: 'State', description: 'What the questions are about.' },
)

type AnyQuestion = Type.Static<
  typeof NoulQuestionSchema | typeof ChoiceQuestionSchema | typeof ScoreQuestionSchema
>

export const QuestionsSchema = objectOnly(
  mapOf<AnyQuestion>({
    minProperties: 1,
    additionalProperties: true,
    title: 'Questions',
    description:
      'Questions by your own names, which the model never sees. The order is kept; a name that ' +
      'stands twice is refused.',
  }),
)

/** A request body; each question is checked with the schema of its type. */
export const RequestSchema = objectOnly(
  named('SystemOneRequest', {
    state: StateSchema,
    questions: QuestionsSchema,
    model: Type.Optional(
      Type.String({
        description: 'A name or alias of `GET /v1/models`; without it the default model answers.',
      }),
    ),
  }),
)

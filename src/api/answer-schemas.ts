/**
 * The answers to questions. The OpenAPI document shows titles and descriptions; validation does not
 * read them.
 *
 * @module
 */

import Type from 'typebox'
import { mostOptions } from './limits.js'
import { count, mapOf, named } from './schema-parts.js'

const probability = (description?: string) =>
  Type.Number({ minimum: 0, maximum: 1, ...(description !== undefined && { description }) })
const probabilities = (description: string) =>
  mapOf<number>({ additionalProperties: probability(), description })

const confidence = probability(
  '0 if the model cannot tell the possible answers apart, 1 if it is certain.',
)

export const EvidenceSchema = named(
  'Evidence',
  {
    label_mass: probability(
      "Probability of all allowed answers together, over the model's whole " +
        'vocabulary; near 0: it would have said something else. Near 1 it kept to the form, right or wrong.',
    ),
    rank: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Number of tokens in the whole vocabulary that were likelier than the likeliest allowed one; 0: ' +
          'the model would have said an allowed answer by itself.',
      }),
    ),
    logits: Type.Array(Type.Number(), {
      description:
        'One per possible answer, before the temperature; for a noul no, then yes. With several ' +
        'orders: the means of the log-probabilities.',
    }),
    temperature: Type.Number({
      exclusiveMinimum: 0,
      description: 'The product of the model’s own temperature and of a calibration’s.',
    }),
    order_spread: Type.Optional(
      probability(
        'The largest change of a probability by the order of the options; only if ' +
          'the question was asked in several orders.',
      ),
    ),
  },
  { description: 'Only if the request had `x-oi-evidence: 1`.' },
)

const evidence = Type.Optional(EvidenceSchema)

export const NoulAnswerSchema = named('NoulAnswer', {
  type: Type.Literal('noul'),
  noul: probability('Probability of yes.'),
  evidence,
})

export const ChoiceAnswerSchema = named('ChoiceAnswer', {
  type: Type.Literal('choice'),
  choice: Type.String({ description: 'The likeliest option; on a tie, the first.' }),
  probabilities: probabilities("By option, in the request's order; their sum is 1."),
  confidence,
  evidence,
})

export const ScoreAnswerSchema = named('ScoreAnswer', {
  type: Type.Literal('score'),
  score: Type.Number({
    minimum: 0,
    maximum: mostOptions - 1,
    description: 'The expected level, counted from 0; usually between two levels.',
  }),
  probabilities: probabilities('By level, from "0"; their sum is 1.'),
  legend: mapOf<string | unknown[] | Record<string, unknown>>({
    additionalProperties: Type.Union([
      Type.String(),
      Type.Array(Type.Unknown()),
      Type.Record(Type.String(), Type.Unknown()),
    ]),
    description:
      'By level, from "0": the request\'s own criteria; a number or a boolean as its JSON text.',
  }),
  confidence,
  evidence,
})

const AnswerSchema = Type.Union([NoulAnswerSchema, ChoiceAnswerSchema, ScoreAnswerSchema], {
  title: 'Answer',
  description: 'One answer; its form is set by the type of its question.',
})

export const UsageSchema = named('Usage', {
  input_tokens: count('Tokens of the state and the questions, images included.'),
  image_tokens: Type.Optional(count('Tokens of the images; absent without images.')),
  output_tokens: Type.Integer({
    minimum: 1,
    description: 'Tokens of the serialised answers, for accounting; nothing is generated.',
  }),
})

export const ResponseSchema = named('SystemOneResponse', {
  model: Type.String({ description: 'The name of the model that answered, never an alias.' }),
  answers: mapOf<Type.Static<typeof AnswerSchema>>({
    minProperties: 1,
    additionalProperties: AnswerSchema,
    description: "One per question, under its name and in the request's order.",
  }),
  usage: UsageSchema,
  latency_ms: Type.Number({ minimum: 0, description: "The model's time, milliseconds." }),
  evidence: Type.Optional(
    Type.Object(
      {
        cached_tokens: count('Input tokens that came from a cache.'),
        evaluated_tokens: count('Tokens that the model read, each time that it read them.'),
      },
      { description: 'For the whole request; only if it had `x-oi-evidence: 1`.' },
    ),
  ),
})

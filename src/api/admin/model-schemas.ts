/**
 * Models of the running server, and their prices.
 *
 * @module
 */

import Type from 'typebox'
import { ModelCardSchema } from '../model-schemas.js'
import { count, oneOf, orNull, strict, time } from './fields.js'
import { named } from '../schema-parts.js'

export const ModelStateSchema = named('ModelState', {
  name: Type.String(),
  aliases: Type.Array(Type.String()),
  default: Type.Boolean({ description: 'Whether it answers requests that name no model.' }),
  file: Type.String({ description: "Its path on the server's machine." }),
  origin: oneOf(
    ['settings', 'kept', 'loaded'],
    'Whether the next start loads it, too: as the settings name it, as it is kept, or, if it is ' +
      'only `loaded`, not.',
  ),
  state: oneOf(
    ['loading', 'ready', 'no process', 'draining', 'failed'],
    '`no process`: its process has ended and is being replaced; `draining`: it finishes its ' +
      'requests, and is then gone; `failed`: it could not be loaded again, or its file has ' +
      'changed.',
  ),
  loaded: orNull(
    Type.Number({ minimum: 0, maximum: 1 }),
    'The part loaded so far, while it is loading; 0 to 1.',
  ),
  reason: orNull(Type.String(), 'Why it has failed.'),
  since: time('When it entered this state.'),
  device: orNull(Type.String(), 'Where it runs, such as `CPU`.'),
  processes: Type.Array(
    Type.Object({
      pid: Type.Integer(),
      resident_bytes: orNull(count('Resident memory.')),
    }),
    {
      description: "The processes that run it; for a model without its own process, the server's.",
    },
  ),
  ends: Type.Record(Type.String(), Type.Integer(), {
    description: 'Unexpected ends of its processes, by cause.',
  }),
  asked_again: count('Requests that were repeated after such an end.'),
  gave_up: count('Requests that were given up after such ends.'),
  requests_under_way: count('Now.'),
  card: orNull(ModelCardSchema, 'The card in `GET /v1/models`; `null` until it is loaded.'),
})

export const ModelStatesSchema = named('ModelStates', {
  models: Type.Array(ModelStateSchema, { description: 'The default model first.' }),
  under_way: Type.Array(
    Type.Object({
      action: oneOf(['model.load', 'model.reload', 'model.unload', 'model.pull']),
      target: Type.String({
        description: 'The file, or the name of the model; of a pull, its source.',
      }),
      started_at: time('When it was requested.'),
      progress: Type.String({ description: 'The progress, in words.' }),
    }),
    { description: 'Changes of models that are under way.' },
  ),
})

export const NewModelSchema = named(
  'NewModel',
  {
    file: Type.String({
      minLength: 1,
      description:
        'Absolute path of a GGUF file on the machine of the server, or the name of a pulled model.',
    }),
    name: Type.Optional(
      Type.String({ minLength: 1, description: "Default: the file's own name." }),
    ),
    aliases: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    default: Type.Optional(Type.Boolean({ description: 'Whether it becomes the default model.' })),
    keep: Type.Optional(Type.Boolean({ description: 'Whether the next starts load it, too.' })),
    settings: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
        description: "The model's settings, by their names; the others are the server's.",
      }),
    ),
  },
  strict,
)

export type NewModel = Type.Static<typeof NewModelSchema>

/** `models.json` of a data folder. */
export const KeptModelsSchema = Type.Object({
  models: Type.Array(Type.Object({ ...NewModelSchema.properties, name: Type.String() })),
})

/** Inputs of the admin socket. */
const text = Type.String({ minLength: 1 })
export const NameSchema = Type.Object({ name: text }, strict)
export const SomeNameSchema = Type.Object({ name: Type.Optional(text) }, strict)
export const KeepNamedSchema = Type.Object(
  { name: text, keep: Type.Optional(Type.Boolean()) },
  strict,
)

export const KeepSchema = named(
  'Keep',
  { keep: Type.Boolean({ description: 'Whether the next starts load it.' }) },
  strict,
)

const price = (description: string) =>
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000_000,
    description: `Millionths of a credit for a million ${description}.`,
  })
const priceFields = {
  input: price('input tokens other than image tokens'),
  output: price('output tokens'),
  image: price('image tokens'),
}

export const PriceSchema = named('Price', {
  model: Type.String({ minLength: 1, maxLength: 200 }),
  ...priceFields,
})

export const PricesSchema = named('Prices', {
  prices: Type.Array(PriceSchema, { description: 'A model without a price is free.' }),
})

export const PriceChangeSchema = named(
  'PriceChange',
  {
    model: Type.String({ minLength: 1, maxLength: 200 }),
    ...Type.Partial(Type.Object(priceFields)).properties,
  },
  { ...strict, description: 'What is left out stays as it is.' },
)

/**
 * Models of the running server, and their prices.
 *
 * @module
 */

import Type from 'typebox'
import { ModelCardSchema } from '../model-schemas.js'
import { count, strict, time } from './fields.js'

export const ModelStateSchema = Type.Object(
  {
    name: Type.String(),
    aliases: Type.Array(Type.String()),
    default: Type.Boolean({ description: 'Whether it answers requests that name no model.' }),
    file: Type.String({ description: 'Its path on the machine of the server.' }),
    state: Type.Union(
      [
        Type.Literal('loading'),
        Type.Literal('ready'),
        Type.Literal('no process'),
        Type.Literal('draining'),
        Type.Literal('failed'),
      ],
      {
        description:
          '`no process`: it has ended and is being replaced; `draining`: it finishes what it was ' +
          'asked, and is gone then.',
      },
    ),
    loaded: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
      description: 'What has been loaded while it is loading, 0 to 1.',
    }),
    reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it failed.' }),
    since: time('When it came into this state.'),
    device: Type.Union([Type.String(), Type.Null()], { description: 'Where it runs, as `CPU`.' }),
    processes: Type.Array(
      Type.Object({
        pid: Type.Integer(),
        resident_bytes: Type.Union([count('Memory that is resident.'), Type.Null()]),
      }),
      { description: "Those that run it; of a model without one of its own, the server's." },
    ),
    ends: Type.Record(Type.String(), Type.Integer(), {
      description: 'Unwanted ends of its processes, by cause.',
    }),
    asked_again: count('Requests that were asked again after such an end.'),
    gave_up: count('Requests that were given up after such ends.'),
    requests_under_way: count('Now.'),
    card: Type.Union([ModelCardSchema, Type.Null()], {
      description: 'As `GET /v1/models` shows it; `null` until it is loaded.',
    }),
  },
  { title: 'ModelState' },
)

export const ModelStatesSchema = Type.Object(
  {
    models: Type.Array(ModelStateSchema, { description: 'The default model first.' }),
    under_way: Type.Array(
      Type.Object({
        action: Type.Union([
          Type.Literal('model.load'),
          Type.Literal('model.reload'),
          Type.Literal('model.unload'),
        ]),
        target: Type.String({ description: 'The file, or the name of the model.' }),
        started_at: time('When it was asked for.'),
        progress: Type.String({ description: 'What it is at, in words.' }),
      }),
      { description: 'What is being done to models now.' },
    ),
  },
  { title: 'ModelStates' },
)

export const NewModelSchema = Type.Object(
  {
    file: Type.String({
      minLength: 1,
      description:
        'Absolute path of a GGUF file on the machine of the server, or the name of a pulled model.',
    }),
    name: Type.Optional(Type.String({ minLength: 1, description: 'Default: as the file says.' })),
    aliases: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    default: Type.Optional(
      Type.Boolean({ description: 'Whether it becomes the one for requests that name none.' }),
    ),
    settings: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
        description: "Settings of a model, by their names; others are the server's.",
      }),
    ),
  },
  { title: 'NewModel', ...strict },
)

const price = (description: string) =>
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000_000,
    description: `Millionths of a credit for a million ${description}.`,
  })
const priceFields = {
  input: price('input tokens that are not of images'),
  output: price('output tokens'),
  image: price('image tokens'),
}

export const PriceSchema = Type.Object(
  { model: Type.String({ minLength: 1, maxLength: 200 }), ...priceFields },
  { title: 'Price' },
)

export const PricesSchema = Type.Object(
  { prices: Type.Array(PriceSchema, { description: 'A model without one is free.' }) },
  { title: 'Prices' },
)

export const PriceChangeSchema = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 200 }),
    ...Type.Partial(Type.Object(priceFields)).properties,
  },
  { title: 'PriceChange', ...strict, description: 'What is left out stays as it is.' },
)

/**
 * API keys.
 *
 * @module
 */

import Type from 'typebox'
import { id, name, strict, time, timeOrNull } from './fields.js'

const models = (description: string) =>
  Type.Union(
    [
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        minItems: 1,
        maxItems: 100,
        uniqueItems: true,
      }),
      Type.Null(),
    ],
    { description },
  )

const modelNames = models(
  'Own names of the models that it may use, as `GET /v1/models` has them; `null`: all.',
)

export const KeySchema = Type.Object(
  {
    id: id('Never given again.'),
    name: name('What it is for.'),
    workspace_id: id('Whose it is.'),
    workspace: name("The workspace's name."),
    hint: Type.String({ description: 'How its secret ends, as `oi-…x4Fz`.' }),
    state: Type.Union(
      [
        Type.Literal('active'),
        Type.Literal('blocked'),
        Type.Literal('expired'),
        Type.Literal('revoked'),
      ],
      { description: 'Only an active one is let in.' },
    ),
    created_at: time('When it was made.'),
    last_used_at: timeOrNull('`null`: never. Written within about a second.'),
    expires_at: timeOrNull('From when on it is refused; `null`: never.'),
    blocked: Type.Boolean({ description: 'Whether it is refused until it is unblocked.' }),
    revoked_at: timeOrNull('Since when it is refused for good.'),
    models: modelNames,
    replaced_by: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The id of the key that a rotation has put in its place.',
    }),
  },
  { title: 'Key' },
)

export const KeysSchema = Type.Object(
  { keys: Type.Array(KeySchema, { description: 'The oldest first, revoked ones too.' }) },
  { title: 'Keys' },
)

export const KeyWithSecretSchema = Type.Object(
  {
    ...KeySchema.properties,
    secret: Type.String({ description: 'The key itself. It is shown this once.' }),
  },
  { title: 'KeyWithSecret' },
)

const optional = {
  expires_at: Type.Optional(timeOrNull('In the future; `null`: never.')),
  models: Type.Optional(modelNames),
}

export const NewKeySchema = Type.Object(
  { workspace_id: id('Whose it will be.'), name: name('What it is for.'), ...optional },
  { title: 'NewKey', ...strict },
)

export const KeyChangeSchema = Type.Object(
  {
    name: Type.Optional(name('What it is for.')),
    ...optional,
    blocked: Type.Optional(Type.Boolean({ description: 'Counts from the next request on.' })),
  },
  { title: 'KeyChange', ...strict, description: 'What is left out stays as it is.' },
)

export const RotationSchema = Type.Object(
  {
    overlap_seconds: Type.Integer({
      minimum: 0,
      maximum: 7_776_000,
      description: 'For how long the old key stays valid beside the new one, at most 90 days.',
    }),
  },
  { title: 'Rotation', ...strict },
)

export const keysQuery = {
  workspace_id: Type.Optional(id('Only keys of this workspace.')),
}

/**
 * API keys.
 *
 * @module
 */

import Type from 'typebox'
import { id, name, oneOf, orNull, strict, time, timeOrNull } from './fields.js'
import { named } from '../schema-parts.js'

const modelNames = orNull(
  Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    ...{ minItems: 1, maxItems: 100, uniqueItems: true },
  }),
  'Own names of the models that it may use, as in `GET /v1/models`; `null`: all.',
)

export const KeySchema = named('Key', {
  id: id('Never reused.'),
  name: name('Its purpose.'),
  workspace_id: id('The workspace that it belongs to.'),
  workspace: name("The workspace's name."),
  hint: Type.String({ description: 'The end of its secret, such as `oi-…x4Fz`.' }),
  state: oneOf(['active', 'blocked', 'expired', 'revoked'], 'Only an active key is accepted.'),
  created_at: time('When it was created.'),
  last_used_at: timeOrNull('`null`: never. Written within about a second.'),
  expires_at: timeOrNull('When it expires; `null`: never.'),
  blocked: Type.Boolean({ description: 'Whether it is blocked, until it is unblocked.' }),
  revoked_at: timeOrNull('When it was revoked for good.'),
  models: modelNames,
  replaced_by: orNull(Type.Integer(), 'The id of the key that replaced it by a rotation.'),
})

export const KeysSchema = named('Keys', {
  keys: Type.Array(KeySchema, { description: 'Oldest first, revoked keys included.' }),
})

export const KeyWithSecretSchema = named('KeyWithSecret', {
  ...KeySchema.properties,
  secret: Type.String({ description: 'The key itself. It is shown only once.' }),
})

const optional = {
  expires_at: Type.Optional(timeOrNull('In the future; `null`: never.')),
  models: Type.Optional(modelNames),
}

export const NewKeySchema = named(
  'NewKey',
  {
    workspace_id: id('The workspace that it will belong to.'),
    name: name('Its purpose.'),
    ...optional,
  },
  strict,
)

export const KeyChangeSchema = named(
  'KeyChange',
  {
    name: Type.Optional(name('Its purpose.')),
    ...optional,
    blocked: Type.Optional(Type.Boolean({ description: 'Takes effect from the next request on.' })),
  },
  { ...strict, description: 'What is left out stays as it is.' },
)

export const RotationSchema = named(
  'Rotation',
  {
    overlap_seconds: Type.Integer({
      minimum: 0,
      maximum: 7_776_000,
      description: 'How long the old key stays valid beside the new one, at most 90 days.',
    }),
  },
  strict,
)

export const keysQuery = {
  workspace_id: Type.Optional(id('Only keys of this workspace.')),
}

/**
 * The reply of `GET /v1/models`.
 *
 * @module
 */

import Type from 'typebox'
import { count, named } from './schema-parts.js'

export const ModelCardSchema = named('ModelCard', {
  name: Type.String({ minLength: 1 }),
  description: Type.String(),
  release_date: Type.String({ description: 'ISO date.' }),
  aliases: Type.Array(Type.String(), {
    description:
      'Further names for `model`; of the default one also `default`, `latest`, `jev-latest`, `jev-preview`.',
  }),
  default: Type.Boolean({ description: 'Whether it answers requests that name no model.' }),
  modalities: Type.Array(Type.String(), {
    description: 'Its inputs: `text`, and `image` for a vision model.',
  }),
  limits: Type.Object({
    max_options: count('Options of a choice.'),
    max_levels: count('Levels of a score.'),
    max_questions: count('Questions in one request.'),
    max_options_per_request: count(
      'Options of all questions of a request together; a noul has two.',
    ),
    max_state_tokens: count('Tokens of the state and the longest question together.'),
    max_images: count('Images in one request; 0 for a model that reads text only.'),
    max_image_pixels: count('Pixels of one image; a larger image is scaled down.'),
    max_batch: count('Requests in one batch.'),
    max_body_bytes: count('Bytes of the body of a request or a batch.'),
    max_reply_bytes: count(
      'Bytes of a reply; a request whose names, options and legends could exceed it is refused.',
    ),
  }),
  same_bits: Type.Boolean({
    description: 'Whether the same request has the same bits every time, whatever else runs.',
  }),
  digest: Type.String({ description: '`sha256:` and 64 hex digits of the weights file.' }),
  readout: Type.String({ description: 'How the model is asked.' }),
  calibration: Type.Optional(
    Type.Object(
      {
        data: Type.String({ description: 'Name of the labelled data.' }),
        date: Type.String({ description: 'ISO date on which the calibration was made.' }),
        observations: count('Number of answers that the calibration was fitted to.'),
      },
      { description: 'The calibration of its probabilities.' },
    ),
  ),
})

const ShortCardSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'Seconds since 1970.' }),
  owned_by: Type.String(),
})

export const ModelSchema = named(
  'Model',
  { ...ModelCardSchema.properties, ...ShortCardSchema.properties },
  { description: 'A model, as in both lists of `GET /v1/models`.' },
)

export const ModelsSchema = named('Models', {
  models: Type.Array(ModelCardSchema),
  object: Type.Literal('list'),
  data: Type.Array(ShortCardSchema, {
    description: 'The same models, in the form that clients of other model servers expect.',
  }),
})

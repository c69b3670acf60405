/**
 * The body of every error reply.
 *
 * @module
 */

import Type from 'typebox'
import { named } from './schema-parts.js'

export const ErrorSchema = named('ErrorBody', {
  error: Type.Object({
    code: Type.String({ description: 'For programs; never changes its meaning.' }),
    message: Type.String({ description: 'For people: the place and the rule.' }),
    type: Type.String({
      description: 'The kind, by the status, as clients of OpenAI expect it.',
    }),
    param: Type.Optional(
      Type.String({
        description: 'The place in the body, such as `questions.team.criteria`, or a header.',
      }),
    ),
  }),
  detail: Type.String({ description: 'The message again.' }),
})

/**
 * The reply of `GET /v1/usage`.
 *
 * @module
 */

import Type from 'typebox'
import { count, named } from './schema-parts.js'

const usageRows = (description: string) =>
  Type.Array(
    Type.Object({
      day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'UTC.' }),
      model: Type.String(),
      requests: Type.Integer({ minimum: 1, description: 'Requests that were answered.' }),
      input_tokens: count('Images included.'),
      output_tokens: count('Tokens of the serialised answers.'),
      image_tokens: count('Tokens of the images.'),
      cached_tokens: count('Input tokens that came from a cache.'),
      cost: count('Millionths of a credit.'),
    }),
    { description },
  )

export const UsageReportSchema = named('UsageReport', {
  workspace: Type.String({ minLength: 1, description: 'Its name.' }),
  balance: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Credit left, millionths of a credit; `null` if it is unlimited.',
  }),
  budget: Type.Union(
    [
      Type.Object({
        tokens: count('Input and output tokens of a period.'),
        period: Type.Union([Type.Literal('day'), Type.Literal('week'), Type.Literal('month')], {
          description: 'In UTC; a week begins on Monday.',
        }),
        remaining_tokens: count('Tokens left in this period.'),
        resets_at: Type.String({ description: 'When the next period begins, ISO 8601, UTC.' }),
      }),
      Type.Null(),
    ],
    { description: 'The token budget of all keys of the workspace; `null` if it is unlimited.' },
  ),
  limits: Type.Object({
    requests_per_minute: count('0 if unlimited.'),
    concurrent: count('Requests under way at once; 0 if unlimited.'),
  }),
  usage: usageRows('Usage of the workspace: one entry per day and model, the newest day first.'),
  key: Type.Optional(
    Type.Object(
      { name: Type.String(), usage: usageRows('Usage of the key, in the same form.') },
      { description: 'The key of the request, and its usage.' },
    ),
  ),
})

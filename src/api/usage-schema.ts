/**
 * What `GET /v1/usage` answers.
 *
 * @module
 */

import Type from 'typebox'
import { count } from './schema-parts.js'

const usageRows = (description: string) =>
  Type.Array(
    Type.Object({
      day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'UTC.' }),
      model: Type.String(),
      requests: Type.Integer({ minimum: 1, description: 'Those that were answered.' }),
      input_tokens: count('Images included.'),
      output_tokens: count('Of the serialised answers.'),
      image_tokens: count('Of the images.'),
      cached_tokens: count('Those of the input that had been read before.'),
      cost: count('Millionths of a credit.'),
    }),
    { description },
  )

export const UsageReportSchema = Type.Object(
  {
    workspace: Type.String({ minLength: 1, description: 'Its name.' }),
    balance: Type.Union([Type.Integer(), Type.Null()], {
      description: 'What is left, millionths of a credit; `null` if it is unlimited.',
    }),
    budget: Type.Union(
      [
        Type.Object({
          tokens: count('Input and output tokens of a period.'),
          period: Type.Union([Type.Literal('day'), Type.Literal('week'), Type.Literal('month')], {
            description: 'In UTC; a week begins on Monday.',
          }),
          remaining_tokens: count('What is left of this period.'),
          resets_at: Type.String({ description: 'When the next one begins, ISO 8601, UTC.' }),
        }),
        Type.Null(),
      ],
      { description: 'What all keys of the workspace may use; `null` if it is unlimited.' },
    ),
    limits: Type.Object({
      requests_per_minute: count('0 if they are unlimited.'),
      concurrent: count('Requests under way at once; 0 if they are unlimited.'),
    }),
    usage: usageRows('Of the workspace: one entry per day and model, the newest day first.'),
    key: Type.Optional(
      Type.Object(
        { name: Type.String(), usage: usageRows('As that of the workspace.') },
        { description: 'The key of the request, and what was used with it.' },
      ),
    ),
  },
  { title: 'UsageReport' },
)

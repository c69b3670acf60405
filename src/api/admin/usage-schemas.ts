/**
 * Usage over time.
 *
 * @module
 */

import Type from 'typebox'
import { count, id, oneOf, time, tokenFields } from './fields.js'
import { named } from '../schema-parts.js'

const dayOrTime = (description: string) =>
  Type.String({ minLength: 10, maxLength: 40, description })

const by = oneOf(['workspace', 'key', 'model'])
const per = oneOf(['hour', 'day'])

const UsageRowSchema = named('UsageRow', {
  start: time('When the hour or day began.'),
  workspace_id: Type.Optional(id('Only with `by` workspace and key.')),
  workspace: Type.Optional(Type.String()),
  key_id: Type.Optional(id('With `by` key.')),
  key: Type.Optional(Type.String()),
  model: Type.Optional(Type.String({ description: 'With `by` model.' })),
  requests: Type.Integer({ description: 'Requests that were answered.' }),
  ...tokenFields,
  cost: count('Millionths of a credit.'),
})

export const UsageSchema = named('UsageOverTime', {
  by,
  per,
  from: time('The beginning of the first hour or day.'),
  to: time('The end of the last hour or day.'),
  rows: Type.Array(UsageRowSchema, {
    description:
      'Newest first; no rows without usage. Usage without a key (the playground of the ' +
      'console, requests without a key) is not included in `by` key.',
  }),
})

export const usageQuery = {
  by: Type.Optional(Type.Union(by.anyOf, { default: 'workspace' })),
  per: Type.Optional(
    Type.Union(per.anyOf, { default: 'day', description: 'Hours are kept for 92 days.' }),
  ),
  from: Type.Optional(
    dayOrTime('A day such as 2026-01-31, or a time. Default: 31 days before `to`, or 48 hours.'),
  ),
  to: Type.Optional(dayOrTime('Exclusive. Default: the end of the current hour or day.')),
  workspace_id: Type.Optional(id('Only usage of this workspace.')),
  key_id: Type.Optional(id('Only usage of this key; needs `by` key or model.')),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  format: Type.Optional(
    Type.Union([Type.Literal('json'), Type.Literal('csv')], { default: 'json' }),
  ),
}

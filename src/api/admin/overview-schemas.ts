/**
 * The last hour of the server.
 *
 * @module
 */

import Type from 'typebox'
import { count, orNull, time } from './fields.js'
import { named } from '../schema-parts.js'

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description })
const milliseconds = Type.Number({ minimum: 0 })

const WindowSchema = named('OverviewWindow', {
  seconds: Type.Number({ minimum: 0, description: 'Its length so far.' }),
  answered: count('Decisions with status 200.'),
  refused: count('With a status from 400 to 499.'),
  failed: count('With a status from 500 to 599.'),
  gone: count('Whose client had gone.'),
  p50_ms: orNull(milliseconds, 'Half of the answers took no longer; `null`: there are none.'),
  p95_ms: orNull(milliseconds, '95 of 100 answers took no longer.'),
  busy: orNull(share(''), 'Share of the time in which the busiest model worked.'),
  cache_hits: orNull(
    share(''),
    'Share of the requests whose state, or a part of it, a cache had; `null`: there were none.',
  ),
})

const columns = (description: string) =>
  Type.Array(Type.Number({ minimum: 0 }), { description: `${description} One for each slot.` })
const columnsOrNull = (description: string) =>
  Type.Array(orNull(Type.Number({ minimum: 0 })), {
    description: `${description} One for each slot; \`null\`: there was nothing to measure.`,
  })

export const OverviewSchema = named('Overview', {
  step_seconds: Type.Number({ description: 'Length of a slot; the last one may be shorter.' }),
  waiting: count('Decisions that wait now, for a place or for a model.'),
  last_minute: WindowSchema,
  last_hour: WindowSchema,
  ends: Type.Array(time(''), { description: 'The ends of the slots, the oldest first.' }),
  seconds: columns('Its length.'),
  statuses: Type.Array(
    Type.Object({
      status: Type.Integer({ description: '0: the client had gone.' }),
      counts: columns('Decisions.'),
    }),
    {
      description:
        'Decisions by status: single requests, items of batches, and batches that failed as a whole.',
    },
  ),
  codes: Type.Array(
    Type.Object({ code: Type.String(), counts: columns('Refused requests and items.') }),
    { description: 'Refusals by the code of the error, the most frequent first.' },
  ),
  p50_ms: columnsOrNull('Half of the answered single requests took no longer.'),
  p95_ms: columnsOrNull('95 of 100 took no longer.'),
  waiting_at_end: columns('Decisions that waited at its end.'),
  models: Type.Array(
    Type.Object({
      model: Type.String(),
      queued: count('Requests in its queue now.'),
      busy: columns('Share of the time in which it worked, 0 to 1.'),
    }),
    { description: 'The busiest models of the hour.' },
  ),
  cache_hits: columnsOrNull('Share of the requests whose state, or a part of it, a cache had.'),
})

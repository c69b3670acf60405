/**
 * Headers of requests and replies.
 *
 * @module
 */

import { allOrders } from '../orders.js'
import { type Part, reference } from './components.js'

const requestId = { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' }
const whole = (minimum: number, maximum?: number) => ({
  type: 'integer',
  minimum,
  ...(maximum !== undefined && { maximum }),
})

/** Parts of paths, by the names of their components. */
export const pathParameters = {
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'A name or an alias of a model.',
    schema: { type: 'string' },
  },
} as const satisfies Record<string, Part>

/** Request headers of every operation. */
export const commonParameters = ['accept-encoding', 'x-request-id']

const requestHeaders = {
  'content-encoding': {
    description:
      'The compression of the body; only one coding. The limits on the size of a body hold for ' +
      'its compressed and its decompressed form.',
    schema: { type: 'string', enum: ['gzip', 'deflate', 'br', 'zstd', 'identity'] },
  },
  'accept-encoding': {
    description:
      'Codings for the reply, with weights: `zstd` (where the server runs on Node 22.15 ' +
      'or later), `br`, `gzip`. Replies of less than 2 KiB are not compressed, unless `identity;q=0` ' +
      'refuses that.',
    schema: { type: 'string' },
    example: 'gzip, br;q=0.9',
  },
  traceparent: {
    description: 'The trace of the request (W3C Trace Context); the reply has it too.',
    schema: { type: 'string' },
  },
  'x-request-id': {
    description: 'Your own id for the request. An invalid one is replaced.',
    schema: requestId,
  },
  'x-oi-evidence': {
    description: 'With `1` every answer has `evidence`.',
    schema: { type: 'string', enum: ['1'] },
  },
  'x-oi-orders': {
    description:
      'The orders of options in which each question is asked; the answer is their mean: ' +
      '`1` as given, `2` forward and reversed, `all` every rotation of a choice (2 for others). ' +
      'Further orders cost nothing. Default: the setting of the model.',
    schema: { type: 'string', enum: allOrders.map(String) },
  },
  'idempotency-key': {
    description:
      'Your own key for the request: repeated with the same key, path and body, within a day ' +
      'unless set otherwise, it is answered again and charged once.',
    schema: { type: 'string', pattern: '^[ -~]{1,255}$' },
  },
  'x-typesafe-retry-count': {
    description:
      'From 1 on, the request repeats an earlier one. If the reply to that was lost within the ' +
      'last five minutes, it is charged once, also without a key.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
} as const satisfies Record<string, Part>

/** Request headers, by the names of their components. */
export const parameters: Part = Object.fromEntries(
  Object.entries(requestHeaders).map(([name, rest]) => [name, { name, in: 'header', ...rest }]),
)

const limited = 'Only if the workspace of the key is limited.'
const part = '[0-9]+\\.[0-9]{2}'

/** Reply headers; required ones are in every reply that lists them. */
const replyHeaders = {
  'x-request-id': {
    description: "The request's id: yours, or the server's.",
    required: true,
    schema: requestId,
  },
  'x-typesafe-request-id': {
    description: 'The same id.',
    required: true,
    schema: requestId,
  },
  'server-timing': {
    description: 'Where the time went, milliseconds.',
    required: true,
    schema: {
      type: 'string',
      pattern: `^queue;dur=${part}, tokenize;dur=${part}, vision;dur=${part}, model;dur=${part}, total;dur=${part}$`,
    },
  },
  'content-encoding': {
    description: 'The compression of the body, if any, as `accept-encoding` allows.',
    schema: { type: 'string', enum: ['zstd', 'br', 'gzip'] },
  },
  vary: {
    description: 'Names `accept-encoding` in replies that other requests get compressed.',
    schema: { type: 'string' },
  },
  'x-oi-ignored': {
    description:
      'The first eight unknown members of the body, separated by commas, such as ' +
      '`questions.team.question`: perhaps misspelt. Only if there are any.',
    schema: { type: 'string' },
  },
  traceparent: {
    description:
      "W3C's Trace Context: the server's span if the request is traced, else yours unchanged.",
    schema: { type: 'string' },
  },
  'x-oi-cached-tokens': {
    description:
      'Input tokens that came from a cache: evaluated before for the same workspace, or as ' +
      '`--share-states` says. Not with NDJSON.',
    schema: whole(0),
  },
  'x-oi-charged': {
    description:
      'Of a request with an `Idempotency-Key`, or that repeats one whose reply was lost: 1 if it ' +
      'was charged (of a batch: some of it), 0 if it had been before.',
    schema: { type: 'string', enum: ['0', '1'] },
  },
  'x-ratelimit-limit-requests': {
    description: `Requests that the workspace may make in a minute. ${limited}`,
    schema: whole(1),
  },
  'x-ratelimit-remaining-requests': {
    description: `Requests left. ${limited}`,
    schema: whole(0),
  },
  'x-ratelimit-reset-requests': {
    description: `Seconds until all of them are available again. ${limited}`,
    schema: { type: 'number', minimum: 0 },
  },
  'x-ratelimit-limit-concurrent': {
    description: `Requests that the workspace may have under way at once. ${limited}`,
    schema: whole(1),
  },
  'x-ratelimit-remaining-concurrent': {
    description: `Requests that it may begin now. ${limited}`,
    schema: whole(0),
  },
  'retry-after': {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: whole(1, 60),
  },
  'retry-after-ms': {
    description: 'The same in milliseconds.',
    required: true,
    schema: whole(1, 60_000),
  },
  'www-authenticate': {
    description: 'How to send a key.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
  },
  'accept-encoding': {
    description: 'The supported codings.',
    required: true,
    schema: { type: 'string' },
  },
  allow: {
    description: 'The methods that the path takes.',
    required: true,
    schema: { type: 'string' },
  },
} as const satisfies Record<string, Part>

type HeaderName = keyof typeof replyHeaders

export const headers: Part = replyHeaders

const always = [
  ...(['x-request-id', 'x-typesafe-request-id', 'server-timing'] as const),
  ...(['content-encoding', 'vary'] as const),
]
const limits = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-concurrent',
  'x-ratelimit-remaining-concurrent',
] as const
const retry = ['retry-after', 'retry-after-ms'] as const

/** Headers of single statuses, in addition to those of all replies. */
const byStatus: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['www-authenticate'],
  405: ['allow'],
  415: ['accept-encoding'],
  429: retry,
  503: retry,
}
/** Replies to unknown callers: their limits are unknown too. */
const anonymous = [401, 404, 405]

const answered = ['x-oi-ignored', 'x-oi-cached-tokens', 'x-oi-charged', 'traceparent'] as const

/**
 * The headers of replies of a status, as references.
 *
 * @param key - Whether the route needs a key. @param posted - Whether it takes a body.
 */
export function headersOf(status: number, key = true, posted = false): Part {
  const names: HeaderName[] = [...always, ...(byStatus[status] ?? [])]
  if (posted && status === 200) names.push(...answered)
  if (key && !anonymous.includes(status)) names.push(...limits)
  return Object.fromEntries(names.map((name) => [name, reference('headers', name)]))
}

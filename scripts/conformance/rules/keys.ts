/**
 * Section 5: keys, request ids, timings and limits in the headers.
 *
 * @module
 */

import { asking, good } from '../../../test/helpers/request-text.js'
import type { Headers, Reply } from '../client.js'
import { type Context, decidePath, refusalOf } from '../context.js'
import { check, each, equal, skip, text, whole } from '../expect.js'
import { section } from '../rule.js'

/**
 * None of them is an `Authorization` with a key of this server. Few: a server may slow down an
 * address from which many wrong keys come.
 */
const wrong: Readonly<Record<string, string | undefined>> = {
  'no key': undefined,
  'another scheme': 'Basic dXNlcjpwYXNz',
  'no scheme': `oi-${'A'.repeat(43)}`,
  'no key behind the scheme': 'Bearer',
  'a malformed key': `Bearer oi-${'A'.repeat(42)}`,
  'an unknown key': `Bearer oi-${'A'.repeat(43)}`,
  'a key of another kind': `Bearer sk-${'A'.repeat(43)}`,
}

/** Replies with and without a key, answered and refused. */
const replies: Readonly<Record<string, (context: Context, headers: Headers) => Promise<Reply>>> = {
  'an answer': (context, headers) => context.post(good, headers),
  'a refused body': (context, headers) => context.post('{', headers),
  'the models': ({ client, bearer }, headers) =>
    client.send({ path: '/v1/models', headers: { ...bearer, ...headers } }),
  'a missing key': ({ client }, headers) => client.send({ path: decidePath, headers, body: good }),
  'an unknown route': ({ client }, headers) => client.send({ path: '/no-such-route', headers }),
  'a wrong method': ({ client, bearer }, headers) =>
    client.send({ path: decidePath, headers: { ...bearer, ...headers } }),
  '/healthz': ({ client }, headers) => client.send({ path: '/healthz', headers }),
}

const eachReply = (
  context: Context,
  headers: Headers,
  look: (reply: Reply) => void,
): Promise<void> => each(replies, async (ask) => look(await ask(context, headers)))

const ids = ['x-request-id', 'x-typesafe-request-id']
const made = /^req_[0-9a-f]{32}$/

/** The header of a limit, and those that belong to it. */
const limits: Readonly<Record<string, readonly string[]>> = {
  'x-ratelimit-limit-requests': ['x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  'x-ratelimit-limit-concurrent': ['x-ratelimit-remaining-concurrent'],
}

function rateLimits({ headers }: Reply): void {
  for (const [limit, others] of Object.entries(limits)) {
    const there = [limit, ...others].filter((name) => headers[name] !== undefined)
    check(
      there.length === 0 || there.length === 1 + others.length,
      `expected all or none of ${[limit, ...others].join(', ')}, got ${there.join(', ')}`,
    )
    for (const name of there) whole(name, Number(headers[name]))
    for (const name of others.filter((each) => each.includes('remaining'))) {
      if (there.length === 0) continue
      check(
        Number(headers[name]) <= Number(headers[limit]),
        `${name}: ${headers[name]} is over ${headers[limit]}`,
      )
    }
  }
}

export const keyRules = [
  ...section('5', {
    'a missing, wrong or malformed key gets 401 invalid_api_key': async ({ client }) => {
      await each(wrong, async (authorization) => {
        const headers = authorization === undefined ? {} : { authorization }
        const reply = await client.send({ path: decidePath, headers, body: good })
        refusalOf(reply, 401, 'invalid_api_key')
      })
      refusalOf(await client.send({ path: '/v1/models' }), 401, 'invalid_api_key')
    },
    'a revoked key gets 401 invalid_api_key': async ({ client, keys }) => {
      if (keys.revoked === undefined) skip('needs a revoked key: --revoked-key')
      const headers = { authorization: `Bearer ${keys.revoked}` }
      refusalOf(await client.send({ path: '/v1/models', headers }), 401, 'invalid_api_key')
    },
    'the message of 401 says to send Authorization: Bearer <key>': async ({ client }) => {
      const reply = await client.send({ path: decidePath, body: good })
      refusalOf(reply, 401, 'invalid_api_key', 'Authorization: Bearer <key>')
    },
    'two Authorization headers are refused with 400': async (context) => {
      for (const second of [context.bearer['authorization'], 'Bearer other']) {
        const head = context.written('GET', '/v1/models', `authorization: ${second}\r\n`)
        refusalOf(await context.client.raw(head), 400, 'invalid_request', 'Authorization')
      }
    },
    'the key is looked at before the body': async ({ client }) => {
      const headers = { 'content-type': 'application/json' }
      const reply = await client.send({ path: decidePath, headers, body: '{' })
      refusalOf(reply, 401, 'invalid_api_key')
    },
    'a key is oi- and 43 base64url characters': async ({ keys }) => {
      // Not shown: the report may be passed on.
      check(/^oi-[A-Za-z0-9_-]{43}$/.test(keys.key), 'the key that was given is not')
    },
    "x-request-id: the caller's own comes back": async (context) => {
      for (const id of ['a', 'A-z_0.9', '...', '0'.repeat(128)]) {
        const { headers } = await context.post(good, { 'x-request-id': id })
        equal('x-request-id', headers['x-request-id'], id)
      }
      await eachReply(context, { 'x-request-id': 'mine' }, ({ headers }) => {
        equal('x-request-id', headers['x-request-id'], 'mine')
      })
    },
    'x-request-id: an omitted one is made': async (context) => {
      const seen = new Set<string>()
      await eachReply(context, {}, ({ headers }) => {
        text('x-request-id', headers['x-request-id'], made)
        seen.add(headers['x-request-id'])
      })
      equal('different ids', seen.size, Object.keys(replies).length)
    },
  }),
  ...section('decisions/Headers', {
    'x-request-id: one that does not fit is replaced, not refused': (context) =>
      each(['0'.repeat(129), 'a b', 'a/b', 'a,b', 'é', '<a>', '{}'], async (id) => {
        const reply = await context.post(good, { 'x-request-id': id })
        equal('status', reply.status, 200)
        text('x-request-id', reply.headers['x-request-id'], made)
      }),
    'x-typesafe-request-id repeats the id on every response': async (context) => {
      await eachReply(context, { 'x-request-id': 'both' }, ({ headers }) => {
        for (const name of ids) equal(name, headers[name], 'both')
      })
    },
    'server-timing names queue, tokenize, vision, model and total on every response': async (
      context,
    ) => {
      await eachReply(context, {}, ({ headers }) => {
        const timing = headers['server-timing'] ?? ''
        for (const name of ['queue', 'tokenize', 'vision', 'model', 'total']) {
          text(
            'server-timing',
            timing,
            new RegExp(`(?:^|,)\\s*${name};dur=\\d+(?:\\.\\d+)?(?:,|$)`),
          )
        }
      })
    },
    'x-ratelimit-*: on every authenticated response, or on none of an unlimited workspace': async (
      context,
    ) => {
      const authenticated = [
        await context.post(good),
        await context.post('{'),
        await context.post(asking('{"q":{"type":"bool"}}')),
        await context.get('/v1/models'),
      ]
      authenticated.forEach(rateLimits)
      for (const limit of Object.keys(limits)) {
        const values = authenticated.map(({ headers }) => headers[limit])
        equal(limit, new Set(values).size, 1)
      }
    },
    'x-ratelimit-*: on no response without a key': async ({ client }) => {
      for (const reply of [
        await client.send({ path: decidePath, body: good }),
        await client.send({ path: '/healthz' }),
      ]) {
        const named = Object.keys(reply.headers).filter((name) => name.startsWith('x-ratelimit-'))
        equal('headers', named, [])
      }
    },
    '429: over the requests per minute, with retry-after of 1 to 60 seconds': async ({
      client,
      keys,
    }) => {
      const most = 1000
      if (keys.limited === undefined) {
        skip(`needs a key of a workspace of at most ${most} requests per minute: --limited-key`)
      }
      const headers = {
        authorization: `Bearer ${keys.limited}`,
        'content-type': 'application/json',
      }
      for (let i = 0; i <= most; i++) {
        const sent = { path: decidePath, headers, body: '{', impatient: true }
        const reply = await client.send(sent)
        if (reply.status !== 429) continue
        refusalOf(reply, 429, 'rate_limit_exceeded')
        const seconds = Number(reply.headers['retry-after'])
        check(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `retry-after: ${seconds}`)
        whole('retry-after-ms', Number(reply.headers['retry-after-ms']), 1)
        return
      }
      check(false, `${most + 1} requests in a row were let in`)
    },
  }),
]

/**
 * Pages of other origins: admitted ones can call and read, others cannot.
 *
 * @module
 */

import { good } from '../../../test/helpers/request-text.js'
import type { Headers, Reply } from '../client.js'
import { type Context, decidePath, refusalOf } from '../context.js'
import { check, each, equal, skip } from '../expect.js'
import { section } from '../rule.js'

const stranger = 'https://not-let-in.example'
/** Headers of the official client and of tracing, besides a key and JSON. */
const askedHeaders = [
  'authorization',
  'content-type',
  'x-request-id',
  'x-client-version',
  'traceparent',
]
const readable = [
  ...['x-request-id', 'x-typesafe-request-id', 'server-timing', 'retry-after', 'retry-after-ms'],
  ...['x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests'],
]

function originOf({ keys }: Context): string {
  return keys.origin ?? skip('needs an origin that the server lets in: --origin')
}

function preflight({ client }: Context, path: string, origin: string): Promise<Reply> {
  const headers: Headers = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': askedHeaders.join(','),
  }
  return client.send({ method: 'OPTIONS', path, headers })
}

const wordsOf = (value: string | undefined) =>
  (value ?? '').split(',').map((word) => word.trim().toLowerCase())

function requireLetIn({ headers }: Reply, origin: string): void {
  const allowed = headers['access-control-allow-origin']
  check(allowed === origin || allowed === '*', `access-control-allow-origin: got ${allowed}`)
}

/** A reply of each kind to a page. */
const replies: Readonly<Record<string, (context: Context, headers: Headers) => Promise<Reply>>> = {
  'an answer': (context, headers) => context.post(good, headers),
  'a refused body': (context, headers) => context.post('{', headers),
  'a missing key': ({ client }, headers) => client.send({ path: decidePath, headers, body: good }),
  'an unknown route': (context, headers) => context.post(good, headers, '/v1/no-such-route'),
  'a wrong method': ({ client, bearer }, headers) =>
    client.send({ path: decidePath, headers: { ...bearer, ...headers } }),
}

export const corsRules = section('decisions/Headers', {
  'CORS: an origin that is not let in is not named, and cookies are allowed to nobody': async (
    context,
  ) => {
    for (const origin of [stranger, 'null', context.keys.origin ?? stranger]) {
      for (const reply of [
        await preflight(context, decidePath, origin),
        await context.post(good, { origin }),
      ]) {
        const allowed = reply.headers['access-control-allow-origin']
        const isLetIn = allowed === origin && origin !== context.keys.origin
        check(!isLetIn, `${origin} is let in by name`)
        equal('credentials', reply.headers['access-control-allow-credentials'], undefined)
      }
    }
  },
  'CORS: a page that is let in may send POST and every header that it asks for': async (
    context,
  ) => {
    const origin = originOf(context)
    const reply = await preflight(context, decidePath, origin)
    check(reply.status === 200 || reply.status === 204, `preflight: status ${reply.status}`)
    requireLetIn(reply, origin)
    const methods = wordsOf(reply.headers['access-control-allow-methods'])
    check(methods.includes('post') || methods.includes('*'), `methods: got ${methods.join()}`)
    const allowed = wordsOf(reply.headers['access-control-allow-headers'])
    for (const name of askedHeaders) check(allowed.includes(name), `header ${name} is not allowed`)
  },
  'CORS: the preflight of an unknown path succeeds, and the call itself is 404': async (
    context,
  ) => {
    const origin = originOf(context)
    const path = '/v1/no-such-route'
    const reply = await preflight(context, path, origin)
    check(reply.status === 200 || reply.status === 204, `preflight: status ${reply.status}`)
    requireLetIn(reply, origin)
    const call = await context.post(good, { origin }, path)
    refusalOf(call, 404, 'not_found')
    requireLetIn(call, origin)
  },
  'CORS: every reply to it can be read, errors included, and its headers': async (context) => {
    const origin = originOf(context)
    await each(replies, async (ask) => {
      const reply = await ask(context, { origin })
      requireLetIn(reply, origin)
      const shown = wordsOf(reply.headers['access-control-expose-headers'])
      for (const name of readable) check(shown.includes(name), `${name} cannot be read`)
      if (reply.headers['access-control-allow-origin'] !== '*') {
        check(wordsOf(reply.headers['vary']).includes('origin'), 'vary does not name origin')
      }
    })
  },
})

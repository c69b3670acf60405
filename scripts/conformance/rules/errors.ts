/**
 * Sections 2.6 and 7: errors, their form, their statuses and the places that they name.
 *
 * @module
 */

import { errorTypeOf } from '../../../src/errors.js'
import {
  asking,
  choice,
  good,
  names,
  noul,
  withModel,
  withState,
} from '../../../test/helpers/request-text.js'
import type { Reply } from '../client.js'
import { bodyOf, type Context, decidePath, refusalOf } from '../context.js'
import { about, check, each, equal, object, saysNumbers, skip, text } from '../expect.js'
import { section } from '../rule.js'

/** One error of each status that any caller can cause. */
const errors: Readonly<Record<string, (context: Context) => Promise<Reply>>> = {
  '400, an unknown type': (context) => context.post(asking('{"q":{"type":"bool"}}')),
  '400, an unknown model': (context) => context.post(withModel('"no-such-model"')),
  '400, another content type': (context) => context.post(good, { 'content-type': 'text/plain' }),
  '401': ({ client }) => client.send({ path: decidePath, body: good }),
  '404': ({ client, bearer }) => client.send({ path: '/v1/no-such-route', headers: bearer }),
  '404 at the root': ({ client }) => client.send({ path: '/no-such-route' }),
  '405': ({ client, bearer }) => client.send({ path: decidePath, headers: bearer }),
  '413': tooLarge,
  '422, not JSON': (context) => context.post('{'),
  '422, an empty object': (context) => context.post('{}'),
}

const eachError = (context: Context, look: (reply: Reply) => void): Promise<void> =>
  each(errors, async (bringAbout) => look(await bringAbout(context)))

/** More than any model allows. */
async function tooLarge(context: Context): Promise<Reply> {
  return context.post(withState(`"${'x'.repeat(await context.longestBody())}"`))
}

/** Bodies, the status of each, and the place in its message. */
const places: readonly (readonly [body: string, status: number, place: string])[] = [
  [withState('null'), 422, 'state'],
  [withModel('7'), 422, 'model'],
  [withModel('"no-such-model"'), 400, 'model'],
  [asking('{}'), 422, 'questions'],
  [asking('{"team":[]}'), 422, 'questions.team'],
  [asking('{"team":{"type":"bool"}}'), 400, 'questions.team'],
  [asking('{"team":{"type":"noul"}}'), 422, 'questions.team'],
  [asking('{"team":{"type":"score"}}'), 422, 'questions.team.criteria'],
  [asking(`{"a":${noul},"team":{"type":"score","criteria":{}}}`), 422, 'questions.team.criteria'],
  [asking('{"team":{"type":"choice","criteria":{}}}'), 422, 'questions.team.criteria'],
  [
    asking(`{"team":{"type":"choice","criteria":${names(300, '""')}}}`),
    400,
    'questions.team.criteria',
  ],
]

/** Words with short tokens, so that few bytes are many tokens. */
const manyTokens = (count: number) => '7 q # z '.repeat(Math.ceil(count / 4))

export const errorRules = [
  ...section('2.6', {
    'every error has error.code, error.message and detail, of every route': (context) =>
      eachError(context, (reply) => {
        const body = bodyOf(reply)
        equal('fields', Object.keys(body).sort(), ['detail', 'error'])
        const { error } = body
        object('error', error)
        text('error.code', error['code'], /^[a-z_]+$/)
        text('error.message', error['message'])
        const known = ['code', 'message', 'type', 'param']
        const more = Object.keys(error).filter((name) => !known.includes(name))
        check(more.length === 0, `error has also ${more.join(', ')}`)
      }),
    'every error is application/json': (context) =>
      eachError(context, ({ headers }) =>
        text('content-type', headers['content-type'], /^application\/json\b/),
      ),
    'every error has the id of its request': (context) =>
      eachError(context, ({ headers }) =>
        text('x-request-id', headers['x-request-id'], /^req_[0-9a-f]{32}$/),
      ),
    'detail repeats error.message': (context) =>
      eachError(context, (reply) => {
        const { error, detail } = bodyOf(reply)
        equal('detail', detail, (error as Record<string, unknown>)['message'])
      }),
  }),
  ...section('decisions/Errors', {
    'error.type follows from the status, of every route': (context) =>
      eachError(context, (reply) => {
        const { error } = bodyOf(reply) as { error: Record<string, unknown> }
        equal('error.type', error['type'], errorTypeOf(reply.status))
      }),
    'the message names the place in the body': async (context) => {
      for (const [body, status, place] of places) {
        await about(body.slice(0, 60), () => context.refuse(body, status, place))
      }
    },
    'the message names the rule: the limit and what was sent': async (context) => {
      const { message } = await context.refuse(choice(names(300, 'null')), 400)
      saysNumbers(message, (await context.card()).limits['max_options']!, 300)
    },
    'a state that is too long is refused with its token count and the limit': async (context) => {
      const { max_state_tokens: limit = 0 } = (await context.card()).limits
      const state = manyTokens(2 * limit)
      if (state.length > 4 * 2 ** 20 - 1000) skip(`a state of ${limit} tokens is more than 4 MiB`)
      const { message } = await context.refuse(withState(`"${state}"`), 400, 'state')
      // A server need not count to the end of what it refuses.
      const isUncounted = /\bmore than \d/.test(message)
      const isOver = saysNumbers(message, limit).some((count) => count > limit)
      check(isOver || isUncounted, `expected a count over ${limit} in "${message}"`)
    },
    '404 not_found: an unknown route': async (context) => {
      for (const path of ['/v1/no-such-route', '/v1', '/', '/v2/systemone']) {
        refusalOf(await context.get(path), 404, 'not_found')
      }
    },
    '405 method_not_allowed: a wrong method, with allow': async (context) => {
      for (const [method, path, allowed] of [
        ['GET', decidePath, 'POST'],
        ['DELETE', decidePath, 'POST'],
        ['PUT', decidePath, 'POST'],
        ['POST', '/v1/models', 'GET'],
        ['DELETE', '/v1/models', 'GET'],
      ] as const) {
        const { client, bearer } = context
        const reply = await client.send({ method, path, headers: bearer })
        await about(`${method} ${path}`, async () => {
          refusalOf(reply, 405, 'method_not_allowed')
          text('allow', reply.headers['allow'], new RegExp(`\\b${allowed}\\b`))
        })
      }
    },
    '413 payload_too_large: a body over the limit, announced or not': async (context) => {
      refusalOf(await tooLarge(context), 413, 'payload_too_large')
      const { client, bearer } = context
      const chunked = await client.send({
        path: decidePath,
        headers: { ...bearer, 'content-type': 'application/json' },
        body: withState(`"${'x'.repeat(await context.longestBody())}"`),
        chunked: true,
      })
      await about('in chunks', async () => refusalOf(chunked, 413, 'payload_too_large'))
    },
    '402 insufficient_balance: the balance is used up': async ({ client, keys }) => {
      if (keys.empty === undefined) skip('needs a key of a workspace without balance: --empty-key')
      const headers = { authorization: `Bearer ${keys.empty}` }
      const reply = await client.send({ path: decidePath, headers, body: good })
      refusalOf(reply, 402, 'insufficient_balance')
    },
    '500, 503 and 504: the server fails, is full, or is too slow': async () =>
      skip('cannot be brought about from outside'),
  }),
]
